import type { Changes } from '../../src/kernel/store/portable.ts'
import type {
  ResultJudged,
  ResultPromoted,
  ResultWritten,
} from '../../src/kinds/task/rules/result-changes.ts'
import { insert } from './bulk.ts'
import { type Sql, sql } from './sql.ts'
import type { Writing } from './writing.ts'

type Result = Changes['results'][number]

/** Results and verdicts, for one task in their order: a verdict makes room for the next result. */
export function resultsWritten({ workspaceId, changes }: Writing): Sql[] {
  return inRounds(changes.results).flatMap((round) => [
    ...round.filter(isJudged).map((result) => judged(workspaceId, result)),
    ...round.filter(isPromoted).flatMap((result) => promoted(workspaceId, result)),
    ...written(workspaceId, round.filter(isWritten)),
  ])
}

const isJudged = (result: Result): result is ResultJudged => result.kind === 'judged'
const isPromoted = (result: Result): result is ResultPromoted => result.kind === 'promoted'
const isWritten = (result: Result): result is ResultWritten => result.kind === 'written'

/** The first of each task, then the second of each, and so on: within a round, no two are for the same task. */
function inRounds(results: readonly Result[]): Result[][] {
  const rounds: Result[][] = []
  const counts = new Map<number, number>()
  for (const result of results) {
    const nth = counts.get(result.taskId) ?? 0
    counts.set(result.taskId, nth + 1)
    if (rounds.length === nth) rounds.push([])
    rounds[nth]!.push(result)
  }
  return rounds
}

// The verdict on a result that awaits one.
const judged = (workspaceId: number, { taskId, epoch, accepted, rejection }: ResultJudged) =>
  sql`update baton_results force index (result_one_per_epoch) set accepted = ${accepted}, rejection = ${rejection}
       where workspace_id = ${workspaceId} and task_id = ${taskId} and standing_epoch = ${epoch} and accepted is null`

// The result accepted in this epoch is replaced by the promoted one.
const promoted = (workspaceId: number, { taskId, epoch, generation, session, hash }: ResultPromoted) => [
  sql`update baton_results force index (result_one_per_epoch) set accepted = 0, rejection = 'REPLACED'
       where workspace_id = ${workspaceId} and task_id = ${taskId} and standing_epoch = ${epoch}`,
  sql`update baton_results set accepted = 1, rejection = null, epoch = ${epoch}
       where workspace_id = ${workspaceId} and task_id = ${taskId} and generation = ${generation}
         and session = ${session} and hash = ${hash}`,
]

const COLUMNS = [
  'workspace_id',
  'task_id',
  'generation',
  'session',
  'hash',
  'epoch',
  'agent',
  'accepted',
  'rejection',
  'ref',
  'data',
  'summary',
  'submitted_at',
]

const IS_THE_SAME = 'generation = values(generation) and session = values(session) and hash = values(hash)'
/**
 * A result that was rejected before and is accepted now changes its verdict. If the conflicting row is another one, two
 * results would be accepted in this epoch: null, which is refused, fails the transaction.
 */
const STANDS_NOW = ` on duplicate key update ref = if(${IS_THE_SAME}, values(ref), null),
  ${['epoch', 'agent', 'accepted', 'rejection', 'submitted_at'].map((name) => `${name} = values(${name})`).join(', ')}`
/** The same rejected result again adds no row. */
const NO_SECOND_ROW = ' on duplicate key update hash = hash'

function written(workspaceId: number, results: readonly ResultWritten[]): Sql[] {
  // A result that is not JSON must fail, as in the other stores; the servers themselves refuse deeply nested JSON.
  for (const { data } of results) JSON.parse(data)
  const rowsOf = (list: readonly ResultWritten[]) =>
    list.map((one) => [
      workspaceId,
      one.taskId,
      one.generation,
      one.session,
      one.hash,
      one.epoch,
      one.agent,
      one.accepted,
      one.rejection,
      one.ref,
      one.data,
      one.summary,
      one.at,
    ])
  return [
    ...insert(
      'baton_results',
      COLUMNS,
      rowsOf(results.filter(({ accepted }) => accepted !== false)),
      STANDS_NOW,
    ),
    ...insert(
      'baton_results',
      COLUMNS,
      rowsOf(results.filter(({ accepted }) => accepted === false)),
      NO_SECOND_ROW,
    ),
  ]
}
