import type { GrantedOf, KindName } from '../../kinds/kind.ts'
import { Refused } from '../../pure/errors.ts'
import { decideAll } from '../batch/decide-all.ts'
import { type Request, readSetOf } from '../batch/requests.ts'
import type { Transactor } from './store.ts'

type RecordRequest = Request & { on: KindName }

/** Commands on records, in a transaction of their own: for stores and starts, which have no kernel. A refusal is thrown. */
export async function runTogether<R extends RecordRequest>(
  store: Transactor<KindName>,
  workspaceId: number,
  requests: readonly R[],
): Promise<GrantedOf[R['on']][]> {
  if (requests.length === 0) return []
  const replies = await store.transact(workspaceId, {
    on: 'batch',
    reads: readSetOf(requests),
    decide(view) {
      const { replies, changes } = decideAll(view, requests)
      return { answer: replies, changes }
    },
  })
  return replies.map((reply) => {
    if (!reply.ok) throw Refused.because(reply)
    return reply as GrantedOf[R['on']]
  })
}

/** One command. */
export async function runAlone<R extends RecordRequest>(
  store: Transactor<KindName>,
  workspaceId: number,
  request: R,
): Promise<GrantedOf[R['on']]> {
  return (await runTogether(store, workspaceId, [request]))[0]!
}
