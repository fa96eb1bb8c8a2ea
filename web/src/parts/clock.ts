import { createContext, useCallback, useContext, useSyncExternalStore } from 'react'

/** How far the server's clock is ahead of this machine's: times are the server's, and a wrong local clock must not be visible. */
export const ClockOffset = createContext<() => number>(() => 0)

/** The moment, in the server's time, at which this page stopped being kept up to date; null: it is connected. */
export const CutOffAt = createContext<number | null>(null)

const tickers = new Map<number, { listeners: Set<() => void>; tick: number; stop: () => void }>()

/** All components that show the time at one interval share one timer, and change in one frame. */
function subscribe(everyMs: number, listener: () => void): () => void {
  let ticker = tickers.get(everyMs)
  if (!ticker) {
    const made = { listeners: new Set<() => void>(), tick: Date.now(), stop: () => {} }
    const timer = setInterval(() => {
      made.tick = Date.now()
      for (const one of made.listeners) one()
    }, everyMs)
    made.stop = () => clearInterval(timer)
    tickers.set(everyMs, made)
    ticker = made
  }
  const { listeners, stop } = ticker
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    stop()
    tickers.delete(everyMs)
  }
}

/** The present moment on the server's clock, updated at this interval. */
export function useClock(everyMs: number): number {
  const offset = useContext(ClockOffset)
  const follow = useCallback((listener: () => void) => subscribe(everyMs, listener), [everyMs])
  const read = () => tickers.get(everyMs)?.tick ?? roundedNow(everyMs)
  const local = useSyncExternalStore(follow, read, read)
  return local + offset()
}

/** The same for how long something has been running: nobody knows it after the connection was lost. */
export function useClockWhileConnected(everyMs: number): number {
  const now = useClock(everyMs)
  const cutOffAt = useContext(CutOffAt)
  return cutOffAt === null ? now : Math.min(now, cutOffAt)
}

// Before the timer runs: the same for all reads of one render, or React would render again without end.
const roundedNow = (everyMs: number) => Math.floor(Date.now() / everyMs) * everyMs
