import { whyUncheckable } from '../../verification/rules.ts'
import { asList, asMap, type Fields, isEmpty, readFields } from './fields.ts'
import type { Position } from './lines.ts'
import type { Located } from './located.ts'
import { checkMission, type DraftEdge, type MissionDraft } from './mission-check.ts'
import { Edge, LARGEST_EDGES, MISSION_FIELDS, MISSION_TASK_FIELDS } from './mission-fields.ts'
import type { MissionPlan, MissionTask } from './mission-plan.ts'
import { checkOutputSchema } from './output-schema.ts'
import { below, type Path } from './path.ts'
import { defaultTitle, LARGEST_PLAN_TASKS } from './plan.ts'
import type { Problems } from './problems.ts'
import { describe } from './wording.ts'

/** A mission's plan: a flat list of tasks. */
export function readMission(map: Located & { kind: 'map' }, problems: Problems): MissionPlan {
  const { values, entries, pathTo } = readFields(map, MISSION_FIELDS, "a mission's plan", null, problems)
  const list = entries.get('tasks')
  if (!list || isEmpty(list.value)) problems.report(list?.at ?? map.at, pathTo('tasks'), 'is missing')
  const path = pathTo('tasks')
  const items = list ? asList(list.value, 'a list of tasks', list.at, path, problems) : []
  if (items.length > LARGEST_PLAN_TASKS)
    problems.report(
      list!.at,
      path,
      `has ${items.length} tasks; a plan may have at most ${LARGEST_PLAN_TASKS}`,
    )
  // The rest is only counted, and nothing depends on tasks that were not read.
  const isWhole = items.length <= LARGEST_PLAN_TASKS
  const drafts = items
    .slice(0, LARGEST_PLAN_TASKS)
    .map((item, i) => readTask(item, below(path, i), problems))
    .filter((draft) => draft !== null)
  if (isWhole) checkMission(drafts, problems)
  return {
    title: values.title ?? null,
    project: values.project ?? null,
    strategy: values.strategy ?? null,
    tasks: drafts.map(({ task }) => task),
  }
}

function readTask(node: Located, path: Path, problems: Problems): MissionDraft | null {
  const map = asMap(node, 'a mapping with a tempId', node.at, path, problems)
  if (!map) return null
  const fields = readFields(map, MISSION_TASK_FIELDS, 'a task', path, problems)
  checkFields(fields, problems)
  const { entries, pathTo } = fields
  const edges = readEdges(fields, problems)
  const task = taskOf(fields.values, edges)
  const idAt = entries.get('tempId')?.at ?? map.at
  const hasId = typeof fields.values.tempId === 'string'
  return {
    task,
    hasId,
    idAt,
    idPath: pathTo('tempId'),
    edges,
    ruleAt: entries.get('triggerRule')?.at ?? map.at,
    rulePath: pathTo('triggerRule'),
  }
}

type TaskFields = Fields<typeof MISSION_TASK_FIELDS>

/** What depends on more than one field. */
function checkFields({ values, entries, pathTo }: TaskFields, problems: Problems): void {
  const report = (field: Parameters<TaskFields['pathTo']>[0], message: string) =>
    problems.report(entries.get(field)!.at, pathTo(field), message)
  if (values.tempId?.startsWith('task:'))
    report('tempId', 'must not begin with task:, which names tasks outside the plan')
  if (values.agent !== undefined && values.contractor !== undefined)
    report('contractor', 'is given beside agent; a task has one of them')
  if (values.preferredAgent !== undefined && (values.agent ?? values.contractor) !== undefined)
    report('preferredAgent', 'is given beside agent or contractor, which alone may do the task')
  const { kind, command, agent } = values.verification ?? {}
  if (kind === 'command' && command === undefined)
    report('verification', 'needs the command that verifies the result')
  if (kind !== undefined && kind !== 'command' && command !== undefined)
    report('verification', `has a command, which is only for kind command, not ${kind}`)
  if (kind !== undefined && kind !== 'agent' && agent !== undefined)
    report('verification', `has an agent, which is only for kind agent, not ${kind}`)
  const why = kind === 'auto' && values.outputSchema ? whyUncheckable(values.outputSchema) : null
  if (why !== null) report('outputSchema', `cannot be checked without a judge: ${why}`)
  const schema = entries.get('outputSchema')
  if (schema && values.outputSchema) checkOutputSchema(schema.value, pathTo('outputSchema'), problems)
}

function readEdges({ entries, pathTo }: TaskFields, problems: Problems): DraftEdge[] {
  const list = entries.get('dependsOn')
  if (!list) return []
  const path = pathTo('dependsOn')
  const items = asList(list.value, 'a list of tasks', list.at, path, problems)
  if (items.length > LARGEST_EDGES) {
    problems.report(list.at, path, `must not have more than ${LARGEST_EDGES} entries`)
    return []
  }
  return items.map((item, i) => readEdge(item, below(path, i), problems)).filter((edge) => edge !== null)
}

function readEdge(item: Located, path: Path, problems: Problems): DraftEdge | null {
  const at: Position = item.at
  if (item.kind === 'scalar' && typeof item.value === 'string')
    return { on: item.value, kind: 'data', at, path }
  if (item.kind !== 'map') {
    if (item.kind !== 'refused')
      problems.report(
        at,
        path,
        `must be the id of a task or a mapping with on and kind, not ${describe(item)}`,
      )
    return null
  }
  const { values } = readFields(item, Edge.shape, 'a dependency', path, problems)
  return values.on === undefined ? null : { on: values.on, kind: values.kind ?? 'data', at, path }
}

function taskOf(values: TaskFields['values'], edges: readonly DraftEdge[]): MissionTask {
  const tempId = values.tempId ?? ''
  const description = values.description ?? null
  return {
    tempId,
    title: values.title ?? defaultTitle(tempId, description),
    description,
    taskType: values.taskType,
    priority: values.priority ?? null,
    dependsOn: edges.map(({ on, kind }) => ({ on, kind })),
    triggerRule: values.triggerRule,
    tags: values.tags,
    capabilities: values.capabilities,
    agent: values.agent ?? null,
    preferredAgent: values.preferredAgent ?? null,
    contractor: values.contractor ?? null,
    model: values.model ?? null,
    complexity: values.complexity ?? null,
    estimatedTokens: values.estimatedTokens ?? null,
    successCriteria: values.successCriteria ?? null,
    outputSchema: values.outputSchema ?? null,
    toolsRequested: values.toolsRequested,
    verification: values.verification ?? null,
    timeouts: unlessEmpty(values.timeouts),
    estimatedDurationMinutes: values.estimatedDurationMinutes ?? null,
    maxRetries: values.maxRetries ?? null,
    maxContinuations: values.maxContinuations ?? null,
    systemPrompt: values.systemPrompt ?? null,
    budget: unlessEmpty(values.budget),
    optional: values.optional,
    fresh: values.fresh || null,
    cancel: values.cancel,
    input: values.input ?? null,
  }
}

const unlessEmpty = <T extends object>(group: T | undefined): T | null =>
  group === undefined || Object.keys(group).length === 0 ? null : group
