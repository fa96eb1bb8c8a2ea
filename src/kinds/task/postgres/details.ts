import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { type Bound, statement } from '../../../postgres/statements/statements.ts'
import { withStoredBudget } from '../../../pure/budget.ts'
import type { GrantedTask } from '../../replies.ts'
import type { TaskDetails } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import type { TaskPlan } from '../rules/plan-fields.ts'

/** The details of tasks: read beside their records, or after them, in the transaction that handed the tasks out. */

/** Fields of a task that can be so large that lists leave them out unless they are requested. */
export const LARGE_DETAILS = ['input', 'checkpoint'] as const
export type LargeDetail = (typeof LARGE_DETAILS)[number]
export const ALL_LARGE: ReadonlySet<LargeDetail> = new Set(LARGE_DETAILS)

/** Of task_details d. What most tasks have is read as null, as in their records. */
export const ownDetails = (include: ReadonlySet<LargeDetail>) => {
  const [input, checkpoint] = LARGE_DETAILS.map((name) => (include.has(name) ? `d.${name}` : 'null::json'))
  return `d.title, d.task_type, d.description, ${input}, nullif(d.tags, '{}'), d.progress_percent, d.progress_step, ${checkpoint},
   d.user_ref, d.error, d.failure_class, d.exhausted, d.metadata, d.created_by, d.plan,
   d.question, d.waits_kind, ms(d.waits_since), d.waits_because, nullif(d.comment_count, 0)`
}

const UUIDS_OF_DEPENDENCIES = `array_agg((select u.uuid::text from tasks u
     where u.workspace_id = x.workspace_id and u.id = x.depends_on) order by x.depends_on)`

/** The UUIDs of the tasks that a task depends on; null: none. */
export const dependsOn = (workspace: string, task: string) =>
  `(select ${UUIDS_OF_DEPENDENCIES} from task_dependencies x where x.workspace_id = ${workspace} and x.task_id = ${task})`

/** How many values `readDetails` reads. */
export const DETAILS_WIDTH = 24

/** In the order they are selected. Written out: building it field by field would cost several times as much. */
export const readDetails = (values: readonly unknown[]) =>
  ({
    title: values[0],
    taskType: values[1],
    description: values[2],
    input: values[3],
    tags: values[4] ?? [],
    progressPercent: values[5],
    progressStep: values[6],
    checkpoint: values[7],
    userId: values[8],
    error: values[9],
    failureClass: values[10],
    exhausted: values[11],
    metadata: values[12],
    createdBy: values[13],
    plan: withStoredBudget(values[14] as TaskPlan | null),
    question: values[15],
    waitsKind: values[16],
    waitsSince: values[17],
    waitsBecause: values[18],
    commentCount: values[19] ?? 0,
    project: values[20],
    parent: values[21],
    mission: values[22],
    dependsOn: values[23] ?? [],
  }) as TaskDetails

// The dependencies of all tasks together: most have none, and a look for each would cost more than its details.
// $1 workspace, $2 tasks.
const detailsOf = statement(
  'details_of',
  `select ${ownDetails(ALL_LARGE)}, null, null, null, n.uuids, d.task_id from task_details d
     left join (select x.task_id, ${UUIDS_OF_DEPENDENCIES} as uuids from task_dependencies x
                 where x.workspace_id = $1 and x.task_id = any($2::bigint[]) group by x.task_id) n on n.task_id = d.task_id
    where d.workspace_id = $1 and d.task_id = any($2::bigint[])`,
)
// Projects and whole tasks, which few tasks have. $1 workspace, $2 projects or tasks.
const slugsOf = statement(
  'slugs_of',
  'select project_id, slug from projects where workspace_id = $1 and project_id = any($2::int[])',
)
// $1 workspace, $2 missions.
const missionsOf = statement(
  'uuids_of_missions',
  'select mission_id, uuid from missions where workspace_id = $1 and mission_id = any($2::bigint[])',
)
const uuidsOf = statement(
  'uuids_of',
  'select id, uuid from tasks where workspace_id = $1 and id = any($2::bigint[])',
)

type Rows = readonly (readonly unknown[])[]

interface DetailQuestions {
  readonly statements: readonly Bound[]
  /** From the answers to these statements, in the order of the records. */
  read(answers: readonly Rows[]): TaskDetails[]
}

/** The details of tasks whose records are known. */
export function questionsFor(workspaceId: number, records: readonly TaskRecord[]): DetailQuestions {
  const projects = new Set(records.map(({ projectId }) => projectId))
  projects.delete(0)
  const wholes = records.map(({ parentId }) => parentId).filter((id) => id !== null)
  const missions = new Set(records.map(({ missionId }) => missionId).filter((id) => id !== null))
  const statements: Bound[] = [[detailsOf, [workspaceId, arrayLiteral(records.map(({ id }) => id))]]]
  /** Asks only for what some of the tasks have; the function gives what was found by number. */
  const look = (statement: Bound[0], ids: readonly number[]) => {
    if (ids.length === 0) return () => new Map<number, string>()
    const place = statements.push([statement, [workspaceId, arrayLiteral(ids)]]) - 1
    return (answers: readonly Rows[]) => new Map(answers[place] as [number, string][])
  }
  const ask = {
    slugs: look(slugsOf, [...projects]),
    uuids: look(uuidsOf, wholes),
    missions: look(missionsOf, [...missions]),
  }
  return {
    statements,
    read(answers) {
      const found = new Map(answers[0]!.map((row) => [row[DETAILS_WIDTH], readDetails(row)]))
      const [slugs, uuids, missionUuids] = [ask.slugs(answers), ask.uuids(answers), ask.missions(answers)]
      return records.map(({ id, projectId, parentId, missionId }) => {
        const details = found.get(id)!
        details.project = slugs.get(projectId) ?? null
        details.parent = parentId === null ? null : (uuids.get(parentId) ?? null)
        details.mission = missionId === null ? null : (missionUuids.get(missionId) ?? null)
        return details
      })
    },
  }
}

/** The same for tasks that a batch hands out: read before its commit, and given with them. */
export function statementsForGranted(workspaceId: number, grantedTasks: readonly GrantedTask[]) {
  if (grantedTasks.length === 0) return { statements: [], give: () => undefined }
  const { statements, read } = questionsFor(
    workspaceId,
    grantedTasks.map(({ record }) => record),
  )
  return {
    statements,
    give(answers: readonly Rows[]): void {
      const details = read(answers)
      grantedTasks.forEach((one, i) => {
        one.details = details[i]
      })
    },
  }
}
