import { useEffect, useRef } from 'react'
import { useGo } from '../links.tsx'
import { payloadField } from '../live/card.ts'
import { useLive } from '../live/provider.tsx'
import { useSession } from '../requests/session.ts'
import type { InboxTab } from '../things/inbox/kinds.ts'
import { notificationChoice } from './choice.ts'
import { isInView, onTurn, watchView } from './tabs.ts'
import { type Notice, WaitingNotices, waitsIn } from './waiting.ts'

/** Notifications of the system about what begins to wait while the page is not in view. They follow the events that it has anyway. */
export function useTelling(isTelling: boolean): void {
  const live = useLive()
  const { workspace } = useSession()
  const go = useGo()
  const latest = useRef(go)
  useEffect(() => {
    latest.current = go
  })
  useEffect(() => {
    if (!isTelling) return
    const shown = systemNotices(workspace.id, (to) => latest.current(to))
    const notices = new WaitingNotices(
      {
        ...shown,
        after: (waitMs, run) => live.after(waitMs, run),
        now: () => live.now(),
        isMuted: (tab) => notificationChoice().muted.includes(tab),
        isInView: () => isInView(workspace.id),
      },
      workspace.name,
    )
    let turnAt: number | null = null
    /** What came before its turn was told by the tab whose turn it was. The server's time is known only once it has answered. */
    const isOfTurn = (at: number) => turnAt !== null && at >= live.now() - (performance.now() - turnAt)
    const leave = [
      watchView(workspace.id, () => notices.seen()),
      onTurn(workspace.id, () => {
        turnAt = performance.now()
        live.staysWhileHidden(true)
      }),
      live.follow({
        event: (event) => {
          if (!isOfTurn(Date.parse(event.at))) return
          const closed = event.type === 'inbox_closed' ? payloadField(event, 'id', 'string') : undefined
          if (closed !== undefined) notices.remove(closed)
          const { entities } = live.world
          const waits = waitsIn(
            event,
            event.taskId === null ? undefined : entities.get('card', event.taskId)?.title,
          )
          if (waits) notices.add(waits)
        },
        flush: () => undefined,
        // What began to wait meanwhile is in the inbox.
        resync: () => undefined,
      }),
    ]
    return () => {
      for (const end of leave) end()
      notices.seen()
      live.staysWhileHidden(false)
    }
  }, [live, workspace.id, workspace.name, isTelling])
}

/** Those that this tab has shown, by kind. */
function systemNotices(workspaceId: string, go: (to: string) => void) {
  const shown = new Map<InboxTab, Notification>()
  return {
    show({ tab, title, text, to }: Notice): void {
      const tag = `baton ${workspaceId} ${tab}`
      // With more of its kind it says so aloud again: the one before may be hours old. No type of TypeScript's has `renotify`.
      const options = { body: text, tag, renotify: true }
      try {
        const made = new Notification(title, options)
        made.onclick = () => {
          window.focus()
          made.close()
          go(to)
        }
        shown.set(tab, made)
      } catch {
        // A browser that shows only those of service workers; the badge says how many wait.
      }
    },
    withdraw(tab: InboxTab): void {
      shown.get(tab)?.close()
      shown.delete(tab)
    },
  }
}
