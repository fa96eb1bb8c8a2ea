import { useRef } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { isLive, type RunState } from '../../../../src/kinds/run/states.ts'
import { about } from '../../live/about.ts'
import { type LiveEvent, tokensAt } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'

export type Run = AnswerTo<'GET', '/runs/:id'>
export type RunEvent = AnswerTo<'GET', '/runs/:id/events'>['items'][number]

/** What events say about a live run. */
export function afterEvent(run: Run, event: LiveEvent): Run {
  const { type, runId, payload } = event
  if (runId !== run.id) return run
  if (type === 'run_status')
    return { ...run, statusMessage: String(payload.message), statusColor: String(payload.color) }
  const tokens = type === 'run_usage' ? tokensAt(event) : null
  return tokens ? { ...run, tokens } : run
}

export const useRun = (id: string) =>
  useSnapshot<Run>(['run', id], ({ signal }) => api().read('/runs/:id', { params: { id }, signal }), {
    apply: afterEvent,
    follows: about.run(id),
  })

export type Invocation = AnswerTo<'GET', '/runs/:id/invocation'>

/** How the agent is called is known a moment after the run began, without an event of its own. */
export const useInvocation = (id: string) =>
  useSnapshot<Invocation>(
    ['run-invocation', id],
    ({ signal }) => api().read('/runs/:id/invocation', { params: { id }, signal }),
    { follows: about.runTimeline(id) },
  )

const EVENTS_A_PAGE = 200

/** The first pages of the timeline, as one. */
async function readEvents(id: string, pages: number, signal: AbortSignal) {
  const read = (afterSeq?: string) =>
    api().read('/runs/:id/events', { params: { id }, query: { limit: EVENTS_A_PAGE, afterSeq }, signal })
  const { body, seq } = await read()
  const items = [...body.items]
  let { nextCursor } = body
  for (let page = 1; page < pages && nextCursor !== null; page += 1) {
    const next = await read(nextCursor)
    items.push(...next.body.items)
    nextCursor = next.body.nextCursor
  }
  return { body: { items, nextCursor }, seq }
}

export function useRunEvents(id: string) {
  // Not state: another page is read into the same answer, which stays on the page meanwhile.
  const pages = useRef(1)
  const events = useSnapshot(['run-events', id], ({ signal }) => readEvents(id, pages.current, signal), {
    follows: about.runTimeline(id),
  })
  const readOn = () => {
    pages.current += 1
    void events.refetch()
  }
  return { ...events, readOn }
}

export const isRunLive = ({ status }: { status: RunState }) => isLive(status)
