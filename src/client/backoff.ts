import { NoAnswer, type Problem } from './problems.ts'

/** How long to wait before another try: longer each time, and not all clients at once. */

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 10_000

export function backoffMs(failures: number, error: Problem | NoAnswer): number {
  const most = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS)
  const asked = error instanceof NoAnswer ? 0 : Math.min(error.retryAfterMs ?? 0, LONGEST_WAIT_MS)
  return asked + most * (0.5 + Math.random() / 2)
}

/** Waits, and throws the reason of the signal when it is aborted. */
export const wait = (ms: number, signal: AbortSignal | undefined) =>
  new Promise<void>((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
