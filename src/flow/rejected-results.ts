import { createPatch } from 'rfc6902'
import { Refused } from '../core/errors.ts'
import { type Place, rejectedResults } from '../store/postgres/rejected-results.ts'
import type { StoredResult } from '../store/store.ts'
import { type Caller, granted, type Kernel } from './kernel.ts'
import { briefView, readTask, taskIdOf } from './tasks.ts'
import { unblockDownstream } from './unblock.ts'
import { resultView } from './views.ts'

/** Work that came too late is not thrown away: it can be read, compared with what was accepted, and taken after all. */

async function theResult(kernel: Kernel, caller: Caller, uuid: string, ref: string) {
  await readTask(kernel, caller, uuid)
  const results = await kernel.store.results(caller.workspaceId, taskIdOf(uuid))
  // Two sessions cannot hold one generation, so a reference names one result of a task.
  const result = results.find((one) => one.ref === ref)
  if (!result) throw new Refused('NOT_FOUND', `The task has no result ${ref}.`)
  return { result, accepted: results.findLast((one: StoredResult) => one.accepted === true) ?? null }
}

export async function listRejected(kernel: Kernel, caller: Caller, after: Place | undefined, limit: number) {
  const rows = await rejectedResults(kernel.store.readers, caller.workspaceId, after, limit)
  return rows.map(({ taskId, place, ...result }) => ({ view: { taskId, ...resultView(result) }, place }))
}

/** What would have to change in the accepted result to make it this one: a JSON Patch (RFC 6902). */
export async function compareWithAccepted(kernel: Kernel, caller: Caller, uuid: string, ref: string) {
  const { result, accepted } = await theResult(kernel, caller, uuid, ref)
  return {
    result: resultView(result),
    accepted: accepted && resultView(accepted),
    patch: accepted && createPatch(accepted.data, result.data),
    isEqual: accepted !== null && createPatch(accepted.data, result.data).length === 0,
  }
}

export async function promoteResult(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  ref: string,
  reason: string | null,
) {
  const { result } = await theResult(kernel, caller, uuid, ref)
  if (result.accepted === null)
    throw new Refused('WRONG_STATE', 'This result waits for a verdict: approve or reject the task.')
  const { generation, session, hash } = result
  if (result.accepted === false) {
    const command = { kind: 'promote', generation, session, hash, ref, reason } as const
    granted(await kernel.run(caller, { on: 'task', taskId: taskIdOf(uuid), uuid, command }))
    void unblockDownstream(kernel, caller.workspaceId, [taskIdOf(uuid)])
  }
  const { record } = await readTask(kernel, caller, uuid)
  return { reason: 'PROMOTED', workProductRef: ref, task: briefView(record) }
}
