import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import type { Window } from '../../parts/windows.ts'
import { api } from '../../requests/api.ts'

export type Overview = AnswerTo<'GET', '/overview'>
export type RunningNow = Overview['running']['items'][number]

export const useOverview = (window: Window) =>
  useSnapshot<Overview>(
    ['overview', window],
    ({ signal }) => api().read('/overview', { query: { window }, signal }),
    { follows: about.anything },
  )
