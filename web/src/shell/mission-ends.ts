import { useEffect, useRef } from 'react'
import { useGo } from '../links.tsx'
import type { LiveEvent } from '../live/card.ts'
import { useLive } from '../live/provider.tsx'
import { endedWhileAway } from '../parts/document-title.ts'
import { toast } from '../parts/toasts.tsx'
import { api } from '../requests/api.ts'

/** With more at once, one message says how many. */
const MOST_TOLD = 2

/** The mission that an event says has ended; null: it says something else. Pure. */
export function endedMission({ type, missionId, payload }: LiveEvent): string | null {
  const { kind } = (payload.item ?? {}) as { kind?: unknown }
  return type === 'inbox_added' && kind === 'finished' ? missionId : null
}

/** People learn that a mission has ended wherever they are: with a message, and in the title of the tab while they look elsewhere. */
export function useMissionEnds(): void {
  const live = useLive()
  const go = useGo()
  const latest = useRef(go)
  useEffect(() => {
    latest.current = go
  })
  useEffect(() => {
    let ended: string[] = []
    const flush = () => {
      const now = ended
      ended = []
      if (now.length === 0) return
      endedWhileAway(now.length)
      if (now.length <= MOST_TOLD) for (const id of now) void tell(id, (to) => latest.current(to))
      else
        toast({
          kind: 'note',
          title: `${now.length} missions ended.`,
          act: { words: 'Show them', run: () => latest.current('/inbox?kind=finished') },
        })
    }
    return live.follow({
      event: (event) => {
        const id = endedMission(event)
        if (id !== null) ended.push(id)
      },
      flush,
      // What ended meanwhile is in the inbox.
      resync: () => {
        ended = []
      },
    })
  }, [live])
}

async function tell(id: string, go: (to: string) => void): Promise<void> {
  const mission = await api()
    .get('/missions/:id', { params: { id } })
    .catch(() => null)
  // Without its title there is nothing to say: the inbox has it.
  if (!mission) return
  const hasFailed = mission.state === 'failed'
  toast({
    kind: hasFailed ? 'bad' : 'done',
    title: `${hasFailed ? 'Failed' : 'Completed'}: ${mission.title}`,
    text: mission.resultSummary ?? undefined,
    act: { words: 'Open the report', run: () => go(`/missions/${id}?view=report`) },
  })
}
