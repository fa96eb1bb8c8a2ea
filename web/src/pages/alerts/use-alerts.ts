import type { AnswerTo } from '../../../../src/client/client.ts'
import type { AlertState } from '../../../../src/kinds/alert/record.ts'
import { about } from '../../live/about.ts'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import { useList } from '../../things/use-list.ts'

export type Alert = AnswerTo<'GET', '/alerts'>['items'][number]

const idOf = ({ id }: Alert) => id

export const useAlerts = (state: AlertState) =>
  useList(
    ['alerts', state],
    (query, signal) => api().read('/alerts', { query: { ...query, state }, ...(signal && { signal }) }),
    { follows: about.alerts, keyOf: idOf },
  )

export const useAcknowledge = () =>
  useAct(
    ({ id, comment }: { id: string; comment: string }) =>
      api().post('/alerts/:id/acknowledge', {
        params: { id },
        body: comment.trim() === '' ? {} : { comment: comment.trim() },
      }),
    ({ acknowledgedBy }) => `Acknowledged by ${acknowledgedBy}.`,
  )
