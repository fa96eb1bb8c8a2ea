/**
 * The clock of this process stands still meanwhile. What a kernel reads it keeps for seconds of that clock, which is not the one of
 * the simulation: on a busy machine a run takes longer than that, would read once more, and be another run.
 */
export async function atOneMoment<T>(act: () => Promise<T>): Promise<T> {
  const moment = performance.now()
  performance.now = () => moment
  try {
    return await act()
  } finally {
    Reflect.deleteProperty(performance, 'now')
  }
}
