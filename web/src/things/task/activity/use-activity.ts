import type { LiveEvent } from '../../../live/card.ts'
import { useSnapshot } from '../../../live/use-snapshot.ts'
import { api } from '../../../requests/api.ts'
import { ACTIVITY_TYPES } from './entries.ts'

interface Activity {
  readonly events: readonly LiveEvent[]
  /** All of them are here: what comes next belongs at the end. */
  readonly isComplete: boolean
}

const A_PAGE = 200
const MOST_PAGES = 10
const TYPES: ReadonlySet<string> = new Set(ACTIVITY_TYPES)

/** What happened to the task that people read; progress and renewals are not among it. Oldest first. */
export const useActivity = (id: string) =>
  useSnapshot<Activity>(
    ['task-activity', id],
    async ({ signal }) => {
      const events: LiveEvent[] = []
      for (let page = 1; ; page++) {
        const { body, seq } = await api().read('/tasks/:id/events', {
          params: { id },
          query: {
            after: String(events.at(-1)?.seq ?? 0),
            limit: String(A_PAGE),
            type: ACTIVITY_TYPES.join(','),
          },
          signal,
        })
        events.push(...body.items)
        const isComplete = body.items.length < A_PAGE
        if (isComplete || page >= MOST_PAGES) return { body: { events, isComplete }, seq }
      }
    },
    {
      apply: (all, event) =>
        event.taskId === id && TYPES.has(event.type) && all.isComplete
          ? { ...all, events: [...all.events, event] }
          : all,
    },
  )
