import { useEffect } from 'react'
import type { EventType } from '../../../src/kinds/events.ts'
import { useGo } from '../links.tsx'
import type { LiveEvent } from '../live/card.ts'
import { useLive } from '../live/provider.tsx'
import { setNewsInTitle } from '../parts/document-title.ts'
import { toast } from '../parts/toasts.tsx'
import { api } from '../requests/api.ts'

/** People learn that a mission ended, on whatever page they are: by a message, and in the title of the tab until they are there. */

const ENDS: Partial<Record<EventType, { words: string; kind: 'done' | 'bad' | 'note' }>> = {
  mission_completed: { words: 'is done', kind: 'done' },
  mission_failed: { words: 'failed', kind: 'bad' },
  mission_cancelled: { words: 'was cancelled', kind: 'note' },
}
const LASTS_MS = 12_000
/** More of them at once are one message. */
const MOST_APART = 3

export function useMissionEnds(): void {
  const live = useLive()
  const go = useGo()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the router does not change
  useEffect(() => {
    let ended: LiveEvent[] = []
    // Only what comes after the page was opened: the log is followed from there.
    const unfollow = live.follow({
      event: (event) => {
        if (ENDS[event.type] && event.missionId !== null) ended.push(event)
      },
      flush: () => {
        const now = ended
        ended = []
        if (now.length > MOST_APART) tellMany(now.length, go)
        else for (const event of now) void tell(event, go)
      },
      resync: () => undefined,
    })
    const isBack = () => {
      if (!document.hidden) setNewsInTitle(null)
    }
    const hear = new AbortController()
    for (const type of ['pointerdown', 'keydown', 'focus'])
      addEventListener(type, isBack, { signal: hear.signal })
    document.addEventListener('visibilitychange', isBack, { signal: hear.signal })
    return () => {
      unfollow()
      hear.abort()
    }
  }, [live])
}

const MOST_LETTERS = 120
const quoted = (title: string) =>
  `“${title.length > MOST_LETTERS ? `${title.slice(0, MOST_LETTERS).toWellFormed()}…` : title}”`

/** The event has no title. A mission whose title cannot be read is told without it. */
async function tell({ type, missionId }: LiveEvent, go: (to: string) => void): Promise<void> {
  const { words, kind } = ENDS[type]!
  const id = missionId!
  const name = await api()
    .get('/missions/:id', { params: { id } })
    .then(({ title }) => quoted(title))
    .catch(() => 'A mission')
  const title = `${name} ${words}.`
  const act = { words: 'Read the report', run: () => go(`/missions/${id}?view=report`) }
  toast({ id: `mission-ended:${id}`, kind, title, act, lastsMs: LASTS_MS })
  setNewsInTitle(`${name} ${words}`)
}

function tellMany(count: number, go: (to: string) => void): void {
  const title = `${count} missions ended.`
  toast({ title, act: { words: 'Show the missions', run: () => go('/missions') }, lastsMs: LASTS_MS })
  setNewsInTitle(`${count} missions ended`)
}
