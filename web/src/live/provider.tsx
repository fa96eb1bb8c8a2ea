import { createContext, type ReactNode, use, useEffect, useState } from 'react'
import { browserClock } from './clock.ts'
import { type Beginning, Live, type LiveRequests } from './live.ts'
import type { WebSocketLike } from './socket.ts'

/** The live workspace of the pages below. */

const LiveContext = createContext<Live | null>(null)

export function useLive(): Live {
  const live = use(LiveContext)
  if (!live) throw new Error('useLive is used outside of LiveProvider')
  return live
}

interface Props {
  requests: LiveRequests
  /** Where the log was when the session was read. */
  begin: Beginning
  onSignedOut: () => void
  children: ReactNode
}

const socketUrl = (ticket: string, after: number) => {
  const url = new URL('/api/v1/events/ws', location.href)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.search = String(new URLSearchParams({ ticket, after: String(after) }))
  return url.href
}

/** Give it the id of the workspace as its key: another workspace is another store, and another socket. */
export function LiveProvider({ requests, begin, onSignedOut, children }: Props): ReactNode {
  const [live] = useState(
    () =>
      new Live({
        requests,
        begin,
        // Its handlers take whole events; the live layer reads two fields of them.
        open: (ticket, after) => new WebSocket(socketUrl(ticket, after)) as unknown as WebSocketLike,
        clock: browserClock,
        isOnline: () => navigator.onLine,
        signedOut: onSignedOut,
      }),
  )
  useEffect(() => {
    const hear = new AbortController()
    const { signal } = hear
    addEventListener('online', () => live.online(true), { signal })
    addEventListener('offline', () => live.online(false), { signal })
    document.addEventListener('visibilitychange', () => live.shown(!document.hidden), { signal })
    live.start()
    return () => {
      hear.abort()
      live.stop()
    }
  }, [live])
  return <LiveContext value={live}>{children}</LiveContext>
}
