import { isDeepStrictEqual } from 'node:util'
import { createPatch, type Operation } from 'rfc6902'
import { included } from '../../../door/asked.ts'
import { actsOf } from '../../../door/door.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import type { StoredResult } from '../../../kernel/store/store.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import * as api from '../api/results.ts'
import { rejectedResults, resultData, resultHeads, resultsOfTask } from '../postgres/result-pages.ts'
import type * as shapes from '../shapes/results.ts'
import { briefView, requireRecord, taskIdOf } from './tasks.ts'
import { listedResultView, resultView } from './views.ts'

/** Late results are kept: they can be read, compared with the accepted result, and promoted. */

async function requireResult(kernel: ServerKernel, caller: Caller, uuid: string, ref: string) {
  const { id } = await requireRecord(kernel, caller, uuid)
  const results = await resultHeads(kernel.store.readers, caller.workspaceId, id)
  // Two sessions cannot hold one generation, so a reference names one result of a task.
  const result = results.find((one) => one.ref === ref)
  if (!result) throw new Refused('NOT_FOUND', `The task has no result ${ref}.`)
  // Each epoch has its own accepted result; the task's result is that of the newest epoch.
  const accepted = results
    .filter((one) => one.accepted === true)
    .reduce<StoredResult | null>((last, one) => (last && last.epoch > one.epoch ? last : one), null)
  return { result, accepted }
}

/** Adds the data: of all the results of a task, only those that are shown are read in full. */
async function whole(kernel: ServerKernel, { workspaceId }: Caller, uuid: string, head: StoredResult) {
  const data = await resultData(kernel.store.readers, workspaceId, taskIdOf(uuid), head)
  return { ...head, data }
}

/**
 * The library searches the shortest edit between two lists, in time and memory cubic in their lengths: two lists of a
 * thousand would crash the process. Longer lists are replaced as a whole, and so is everything left after this many
 * comparisons.
 */
const LONGEST_LISTS = 100
const MOST_COMPARISONS = 50_000

export function patchTo(from: unknown, to: unknown): Operation[] {
  let left = MOST_COMPARISONS
  return createPatch(from, to, (one, other, at) => {
    left -= 1
    const areLists = Array.isArray(one) && Array.isArray(other)
    if (left > 0 && !(areLists && one.length + other.length > LONGEST_LISTS)) return undefined
    return isDeepStrictEqual(one, other) ? [] : [{ op: 'replace', path: at.toString(), value: other }]
  })
}

async function promoteResult(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  ref: string,
  reason: string | null,
): Promise<AnswerOf<typeof shapes.PromoteAnswer>> {
  const { result } = await requireResult(kernel, caller, uuid, ref)
  if (result.accepted === null)
    throw new Refused('WRONG_STATE', 'This result awaits a verdict: approve or reject the task.')
  const { generation, session, hash, commit } = result
  if (result.accepted === false) {
    const command = { kind: 'promote', generation, session, hash, commit, ref, reason } as const
    granted(await kernel.run(caller, { on: 'task', taskId: taskIdOf(uuid), uuid, command }))
  }
  return {
    reason: 'PROMOTED',
    workProductRef: ref,
    task: briefView(await requireRecord(kernel, caller, uuid)),
  }
}

export const resultActs = actsOf(api)({
  listRejectedResults: async ({ kernel }, { query, caller, page }) => {
    const { after, limit } = page
    const withData = included(query.include, 'result').has('result')
    const { rows, more } = await rejectedResults(kernel.store.readers, caller.workspaceId, {
      after,
      limit,
      withData,
    })
    const view = withData ? resultView : listedResultView
    const items = rows.map(({ taskId, place: _place, ...result }) => ({ taskId, ...view(result) }))
    return { items, nextCursor: page.next(more ? rows.at(-1)!.place : null) }
  },
  /** With their data. */
  listResultsOfTask: async ({ kernel }, { params, caller, page }) => {
    const { id } = await requireRecord(kernel, caller, params.id)
    const part = { after: page.after, limit: page.limit, withData: true }
    const { rows, more } = await resultsOfTask(kernel.store.readers, caller.workspaceId, id, part)
    return { items: rows.map(resultView), nextCursor: page.next(more ? rows.at(-1)!.place : null) }
  },
  readResult: async ({ kernel }, { params: { id, ref }, caller }) => {
    const { result } = await requireResult(kernel, caller, id, ref)
    return { taskId: id, ...resultView(await whole(kernel, caller, id, result)) }
  },
  /** The JSON Patch (RFC 6902) from the accepted result to this one. */
  compareResult: async ({ kernel }, { params: { id, ref }, caller }) => {
    const heads = await requireResult(kernel, caller, id, ref)
    const result = await whole(kernel, caller, id, heads.result)
    const accepted = heads.accepted && (await whole(kernel, caller, id, heads.accepted))
    const patch = accepted && patchTo(accepted.data, result.data)
    return {
      result: resultView(result),
      accepted: accepted && resultView(accepted),
      patch,
      isEqual: patch?.length === 0,
    }
  },
  promoteResult: ({ kernel }, { params, body: { reason = null }, caller }) =>
    promoteResult(kernel, caller, params.id, params.ref, reason),
})
