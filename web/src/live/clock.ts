/** Time as the live layer needs it; tests bring their own. */
export interface Clock {
  now(): number
  setTimeout(run: () => void, afterMs: number): unknown
  clearTimeout(timer: unknown): void
  /** From 0 up to 1. */
  random(): number
}

export const browserClock: Clock = {
  now: () => Date.now(),
  setTimeout: (run, afterMs) => setTimeout(run, afterMs),
  clearTimeout: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
  random: () => Math.random(),
}
