import type { GrantedOf, KindName } from '../../kinds/all.ts'
import { Refused } from '../../pure/errors.ts'
import { decideAll } from '../batch/decide-all.ts'
import { type Request, readSetOf } from '../batch/requests.ts'
import type { Transactor } from './store.ts'

/** One command on a record, in a transaction of its own: for stores and starts, which have no kernel. A refusal is thrown. */
export async function runAlone<R extends Request & { on: KindName }>(
  store: Transactor<KindName>,
  workspaceId: number,
  request: R,
): Promise<GrantedOf[R['on']]> {
  const reply = await store.transact(workspaceId, {
    on: 'batch',
    reads: readSetOf([request]),
    decide(view) {
      const { replies, changes } = decideAll(view, [request])
      return { answer: replies[0]!, changes }
    },
  })
  if (!reply.ok) throw Refused.because(reply)
  return reply as GrantedOf[R['on']]
}
