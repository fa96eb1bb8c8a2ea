import type { AnswerTo } from '../../../../src/client/client.ts'
import type { LiveEvent } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'

export type Overview = AnswerTo<'GET', '/overview'>
export type RunningNow = Overview['running']['items'][number]

/** What the figures count: changes of states, and what begins or ends. Events report what a run says in between. */
const changesFigures = ({ type, to }: LiveEvent) =>
  (to !== null && to !== undefined) ||
  /^(inbox_|mission_|agent_|run_(queued|started|finished|flagged))/.test(type)

export const useOverview = () =>
  useSnapshot<Overview>(['overview'], ({ signal }) => api().read('/overview', { query: {}, signal }), {
    refetchOn: changesFigures,
  })
