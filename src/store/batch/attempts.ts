import type { Changes } from '../../kernel/batch/requests.ts'
import { foldResults } from '../../kernel/store/fold-changes.ts'
import type { ClaimEnded } from '../../kinds/task/record.ts'
import type { ResultPromoted, ResultWritten } from '../../kinds/task/rules/result-changes.ts'
import type { Column } from '../../postgres/statements/columns.ts'
import {
  type Bound,
  columnsOf,
  insertInto,
  overRows,
  statement,
} from '../../postgres/statements/statements.ts'

/**
 * Attempts on the write path: claims that end, with the results that end them, and what happens to results later. A result is
 * in `attempts` as long as it is accepted or awaits a verdict, and in `rejected_results` otherwise.
 */

const RESULT = columnsOf({
  epoch: 'int',
  accepted: 'boolean',
  hash: 'text',
  data: 'json',
  summary: 'text',
  commit: 'text',
  submitted_at: 'instant',
})
const HOLDER = columnsOf({ task_id: 'bigint', generation: 'int', session: 'text', agent: 'text' })
const namesOf = (columns: readonly Column[]) => columns.map(({ name }) => name)
const asExcluded = (columns: readonly Column[]) =>
  namesOf(columns)
    .map((name) => `${name} = excluded.${name}`)
    .join(', ')

// Claims that ended, each with its result if it has one. Not "on conflict": a generation ends once.
const endAttempts = insertInto('attempts', [
  ...HOLDER,
  ...columnsOf({ state: 'text', acquired_at: 'instant', ended_at: 'instant', end_reason: 'text' }),
  ...RESULT,
])

// Results of claims that had ended before. The claim may be forgotten by now.
const insertLateResults = insertInto(
  'attempts',
  [...HOLDER, ...RESULT],
  `on conflict (workspace_id, task_id, generation, promoted_in) do update set ${asExcluded(RESULT)}`,
  'insert_late_results',
)

// The same results, where they were rejected before: they are accepted after all. (The limits may have changed meanwhile.)
const overturnRejections = overRows(
  'overturn_rejections',
  columnsOf({ task_id: 'bigint', generation: 'int', session: 'text', hash: 'text' }),
  1,
  ({ of, from }) =>
    `update rejected_results r set overturned = true from ${from}
      where r.workspace_id = $1 and r.task_id = any($2::bigint[]) and r.task_id = u.task_id
        and r.generation = ${of.generation} and r.session = ${of.session} and r.hash = ${of.hash}`,
)

const REJECTED = columnsOf({
  task_id: 'bigint',
  generation: 'int',
  session: 'text',
  hash: 'text',
  epoch: 'int',
  agent: 'text',
  rejection: 'text',
  data: 'json',
  summary: 'text',
  commit: 'text',
  processing_ms: 'bigint',
  submitted_at: 'instant',
})

// Rejected results. The same result again adds no row, whether it was rejected or accepted before. (Counted, not joined: a
// cached plan for a join could scan all attempts.)
const rejectResults = overRows(
  'reject_results',
  REJECTED,
  1,
  ({ of, from }) =>
    `insert into rejected_results (workspace_id, ${namesOf(REJECTED).join(', ')})
     select $1, ${namesOf(REJECTED)
       .map((name) => of[name])
       .join(', ')} from ${from}
      where (select count(*) from attempts a where a.workspace_id = $1 and a.task_id = ${of.task_id}
         and a.generation = ${of.generation} and a.session = ${of.session} and a.hash = ${of.hash}) = 0
     on conflict do nothing`,
)

// Results that await a verdict and pass.
const acceptResults = overRows(
  'accept_results',
  columnsOf({ task_id: 'bigint', epoch: 'int' }),
  1,
  ({ of, from }) =>
    `update attempts a set accepted = true from ${from}
      where a.workspace_id = $1 and a.task_id = any($2::bigint[]) and a.hash is not null and a.accepted is null
        and a.task_id = u.task_id and a.epoch = ${of.epoch}`,
)

// Results that stood until now: their attempts stay without them.
const unsetResults = (name: string, which: string) =>
  overRows(
    name,
    columnsOf({ task_id: 'bigint', epoch: 'int', rejection: 'text' }),
    1,
    ({ of, from }) =>
      `with standing as materialized (
         select a.*, ms(a.submitted_at) - ms(a.acquired_at) as processing_ms, ${of.rejection} as rejection from ${from} cross join lateral (
           select * from attempts a where a.workspace_id = $1 and a.task_id = u.task_id and a.epoch = ${of.epoch}
              and a.hash is not null and ${which} offset 0) a),
       moved as (
         insert into rejected_results (workspace_id, ${namesOf(REJECTED).join(', ')})
         select workspace_id, ${namesOf(REJECTED).join(', ')} from standing
         on conflict (workspace_id, task_id, generation, session, hash) do update
           set rejection = excluded.rejection, epoch = excluded.epoch, submitted_at = excluded.submitted_at, overturned = false)
       update attempts a set ${namesOf(RESULT)
         .map((column) => `${column} = null`)
         .join(', ')} from standing s
        where a.workspace_id = $1 and a.task_id = any($2::bigint[]) and a.task_id = s.task_id
          and a.generation = s.generation and a.promoted_in = s.promoted_in`,
  )
const failResults = unsetResults('fail_results', 'a.accepted is null')
const replaceResults = unsetResults('replace_results', 'true')

// A rejected result becomes the result of its task, in a row of its own. $1 workspace, $2 task, $3 epoch, $4 generation, $5 session,
// $6 hash.
const promoteResult = statement(
  'promote_result',
  `with promoted as (
     update rejected_results set overturned = true
      where workspace_id = $1 and task_id = $2 and generation = $4 and session = $5 and hash = $6 returning *)
   insert into attempts (workspace_id, task_id, generation, promoted_in, session, agent, ${namesOf(RESULT).join(', ')})
   select workspace_id, task_id, generation, $3, session, agent, $3, true, hash, data, summary, commit, submitted_at from promoted
   on conflict (workspace_id, task_id, generation, promoted_in) do update set ${asExcluded(RESULT)}`,
)

/**
 * In this order: verdicts before the results of later generations, since an epoch has one that is not rejected; promotions
 * last, since what they promote or replace may have been written in this batch.
 */
export function attemptWrites(workspaceId: number, changes: Changes): Bound[] {
  const ended = changes.claims.filter((claim): claim is ClaimEnded => claim.kind === 'ended')
  if (changes.results.length === 0)
    return ended.length === 0
      ? []
      : [
          endAttempts(
            workspaceId,
            attemptValues(ended, () => undefined),
          ),
        ]
  const { standing, rejected, judged, promoted } = foldResults(changes)
  const writes: Bound[] = []
  const passed = judged.filter(({ accepted }) => accepted)
  const failed = judged.filter(({ accepted }) => !accepted)
  if (passed.length > 0)
    writes.push(
      acceptResults([workspaceId], [passed.map((one) => one.taskId), passed.map((one) => one.epoch)]),
    )
  if (failed.length > 0) writes.push(failResults([workspaceId], rejectionValues(failed)))
  const byClaim = new Map(standing.map((result) => [nameOf(result), result]))
  if (ended.length > 0)
    writes.push(
      endAttempts(
        workspaceId,
        attemptValues(ended, (claim) => take(byClaim, nameOf(claim))),
      ),
    )
  // What is left belongs to no claim that ended in this batch.
  if (byClaim.size > 0) writes.push(...lateWrites(workspaceId, [...byClaim.values()]))
  if (rejected.length > 0) writes.push(rejectResults([workspaceId], rejectedValues(rejected)))
  return [...writes, ...promoted.flatMap((one) => promotionWrites(workspaceId, one))]
}

const nameOf = ({ taskId, generation }: ClaimEnded | ResultWritten) => `${taskId}/${generation}`

function take<K, V>(map: Map<K, V>, key: K): V | undefined {
  const value = map.get(key)
  map.delete(key)
  return value
}

const resultValues = (results: readonly (ResultWritten | undefined)[]) => [
  results.map((result) => result?.epoch),
  results.map((result) => result?.accepted),
  results.map((result) => result?.hash),
  results.map((result) => result?.data),
  results.map((result) => result?.summary),
  results.map((result) => result?.commit),
  results.map((result) => result?.at),
]

const holderValues = (of: readonly (ClaimEnded | ResultWritten)[]) => [
  of.map((one) => one.taskId),
  of.map((one) => one.generation),
  of.map((one) => one.session),
  of.map((one) => one.agent),
]

const attemptValues = (
  ended: readonly ClaimEnded[],
  resultOf: (claim: ClaimEnded) => ResultWritten | undefined,
) => [
  ...holderValues(ended),
  ended.map((claim) => claim.state),
  ended.map((claim) => claim.acquiredAt),
  ended.map((claim) => claim.at),
  ended.map((claim) => claim.reason),
  ...resultValues(ended.map(resultOf)),
]

function lateWrites(workspaceId: number, results: readonly ResultWritten[]): Bound[] {
  const [tasks, generations, sessions] = holderValues(results)
  const hashes = results.map(({ hash }) => hash)
  return [
    insertLateResults(workspaceId, [...holderValues(results), ...resultValues(results)]),
    overturnRejections([workspaceId], [tasks!, generations!, sessions!, hashes]),
  ]
}

const rejectedValues = (results: readonly ResultWritten[]) => [
  results.map((result) => result.taskId),
  results.map((result) => result.generation),
  results.map((result) => result.session),
  results.map((result) => result.hash),
  results.map((result) => result.epoch),
  results.map((result) => result.agent),
  results.map((result) => result.rejection),
  results.map((result) => result.data),
  results.map((result) => result.summary),
  results.map((result) => result.commit),
  results.map((result) => result.processingMs),
  results.map((result) => result.at),
]

const rejectionValues = (of: readonly { taskId: number; epoch: number; rejection: string | null }[]) => [
  of.map((one) => one.taskId),
  of.map((one) => one.epoch),
  of.map((one) => one.rejection),
]

const promotionWrites = (
  workspaceId: number,
  { taskId, epoch, generation, session, hash }: ResultPromoted,
): Bound[] => [
  replaceResults([workspaceId], rejectionValues([{ taskId, epoch, rejection: 'REPLACED' }])),
  [promoteResult, [workspaceId, taskId, epoch, generation, session, hash]],
]
