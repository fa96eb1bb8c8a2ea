/**
 * When a step of a simulation is over: all that can happen without the scheduler has happened. A turn of the event loop costs
 * more than most steps, so one is taken only when somebody waits for it: combiners do, real servers are another matter.
 */

const real = { setImmediate, clearImmediate }
const awaited = new Set<NodeJS.Immediate>()

globalThis.setImmediate = Object.assign((act: (...args: unknown[]) => void, ...args: unknown[]) => {
  const immediate = real.setImmediate(() => {
    awaited.delete(immediate)
    act(...args)
  })
  awaited.add(immediate)
  return immediate
}, real.setImmediate) as typeof setImmediate

globalThis.clearImmediate = (immediate) => {
  awaited.delete(immediate!)
  real.clearImmediate(immediate)
}

/** A tick comes when every promise that can settle has settled. */
const tick = () => new Promise<void>((resolve) => process.nextTick(resolve))
const turn = () => new Promise<void>((resolve) => real.setImmediate(resolve))

/** The simulation must now and then yield to the rest of its process. */
const LONGEST_WITHOUT_TURN = 1_000
let sinceTurn = 0

export async function quiet(): Promise<void> {
  await tick()
  if (++sinceTurn < LONGEST_WITHOUT_TURN && awaited.size === 0) return
  sinceTurn = 0
  do {
    await turn()
    await tick()
  } while (awaited.size > 0)
}
