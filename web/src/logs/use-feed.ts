import { useEffect, useState, useSyncExternalStore } from 'react'

interface Feed<State> {
  subscribe: (listener: () => void) => () => void
  snapshot: () => State
  close: () => void
}

/** A feed of this run for as long as the component is mounted, and its state. */
export function useFeed<F extends Feed<unknown>>(key: string, make: () => F): [F, ReturnType<F['snapshot']>] {
  const [held, setHeld] = useState(() => ({ key, feed: make() }))
  let { feed } = held
  if (held.key !== key) {
    feed = make()
    setHeld({ key, feed })
  }
  useEffect(() => () => feed.close(), [feed])
  return [feed, useSyncExternalStore(feed.subscribe, feed.snapshot) as ReturnType<F['snapshot']>]
}

const DRAW_EVERY_MS = 100

/** Live output is drawn ten times a second at most. */
export function drawLater(call: () => void): () => void {
  const timer = setTimeout(call, DRAW_EVERY_MS)
  return () => clearTimeout(timer)
}
