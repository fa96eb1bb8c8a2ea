import { foldDetails } from '../../src/kernel/store/fold-changes.ts'
import type { Changes } from '../../src/kernel/store/portable.ts'
import type { DetailsChanged } from '../../src/kinds/task/record.ts'
import { insert, update } from './bulk.ts'
import type { Sql } from './sql.ts'
import type { Writing } from './writing.ts'

/** The details of tasks. */

/** Changed only by plans of missions, which are not held here. */
type OfPlans = 'taskType' | 'input' | 'plan'

const COLUMNS = {
  title: 'title',
  description: 'description',
  tags: 'tags',
  progressPercent: 'progress_percent',
  progressStep: 'progress_step',
  checkpoint: 'checkpoint',
  error: 'error',
  failureClass: 'failure_class',
  exhausted: 'exhausted',
  question: 'question',
  waitsKind: 'waits_kind',
  waitsSince: 'waits_since',
  waitsBecause: 'waits_because',
} as const satisfies Record<Exclude<keyof DetailsChanged['set'], OfPlans>, string>

type Field = keyof typeof COLUMNS
const JSON_FIELDS: readonly Field[] = ['tags', 'checkpoint', 'question']

const asJson = (value: unknown) => (value === undefined ? null : JSON.stringify(value))

export function newDetails(workspaceId: number, created: Changes['created']): Sql[] {
  const columns = [
    'task_type',
    'input',
    'user_id',
    'project',
    'parent',
    'is_dead_letter',
    'metadata',
    'created_by',
    ...Object.values(COLUMNS),
  ]
  const rows = created.map(({ record, task: { details }, parentUuid }) => [
    workspaceId,
    record.id,
    details.taskType,
    asJson(details.input),
    details.userId,
    details.project,
    parentUuid,
    details.exhausted ? 1 : null,
    asJson(details.metadata),
    details.createdBy ?? null,
    ...(Object.keys(COLUMNS) as Field[]).map((field) => columnValue(field, details[field])),
  ])
  return insert('baton_task_details', ['workspace_id', 'task_id', ...columns], rows)
}

const columnValue = (field: Field, value: unknown): unknown =>
  JSON_FIELDS.includes(field) ? asJson(value) : (value ?? null)

/** Changes of the same fields are grouped. The last change of a task in a batch is the one written. */
export function detailsWritten({ isMariadb, workspaceId, changes }: Writing): Sql[] {
  const groups = new Map<string, { columns: string[]; rows: unknown[][] }>()
  for (const [taskId, set] of foldDetails(changes)) {
    const given = (Object.entries(set) as [Field, unknown][]).sort(([a], [b]) => (a < b ? -1 : 1))
    const columns = given.map(([field]) => COLUMNS[field] as string)
    const values = given.map(([field, value]) => columnValue(field, value))
    if (set.exhausted !== undefined) {
      columns.push('is_dead_letter')
      values.push(set.exhausted ? 1 : null)
    }
    const group = groups.get(columns.join()) ?? { columns, rows: [] }
    groups.set(columns.join(), group)
    group.rows.push([taskId, ...values])
  }
  return [...groups.values()].flatMap(({ columns, rows }) =>
    update(isMariadb, { table: 'baton_task_details', workspaceId, key: ['task_id'], columns, rows }),
  )
}
