/**
 * Turns of long work on the event loop: one in each round, whoever asks. With `setImmediate` alone, the parts of all bodies that
 * are under way would run in the same round, one after the other, and hold it for as long as they take together.
 */
const waiting: (() => void)[] = []

export const nextTurn = (): Promise<void> =>
  new Promise((begin) => {
    if (waiting.push(begin) === 1) setImmediate(beginOne)
  })

function beginOne(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(beginOne)
}
