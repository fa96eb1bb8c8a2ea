import type { z } from 'zod'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import { locateValue } from '../../mission/plan/located-value.ts'
import { checkOutputSchema } from '../../mission/plan/output-schema.ts'
import { below } from '../../mission/plan/path.ts'
import { Problems } from '../../mission/plan/problems.ts'
import type { MissionRecord } from '../../mission/record.ts'
import { whyUncheckable } from '../../verification/rules.ts'
import { modelOf } from '../rules/new-task.ts'
import type { TaskPlan } from '../rules/plan-fields.ts'
import type { TaskCreate } from '../shapes/tasks.ts'

/** Tasks that are added to a mission one by one, beside those of its plan. */

type Create = z.output<typeof TaskCreate>

/** The missions that new tasks join, by their outside id. */
export type NamedMissions = ReadonlyMap<string, MissionRecord>
export const NO_MISSIONS: NamedMissions = new Map()

/** Those that the tasks name; a part of a task of a mission belongs to that mission, too. */
export async function missionsNamed(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  tasks: readonly Create[],
): Promise<NamedMissions> {
  const wholes = await missionsOfWholes(kernel, workspaceId, tasks)
  const named = new Set(tasks.flatMap(({ mission }) => mission ?? []))
  const missions = new Map<string, MissionRecord>()
  const ids = [...named].flatMap((uuid) => idCarriedBy(uuid) ?? [])
  for (const id of new Set([...ids, ...wholes.values()])) {
    const mission = await kernel.store.missions.find(workspaceId, id)
    if (mission) missions.set(mission.uuid, mission)
  }
  for (const task of tasks) joinTheWhole(task, wholes, missions)
  return missions
}

/** The missions of the tasks that new ones are parts of. */
async function missionsOfWholes(
  kernel: ServerKernel,
  workspaceId: number,
  tasks: readonly Create[],
): Promise<Map<string, number>> {
  const ids = new Set(tasks.flatMap(({ parentId = '' }) => idCarriedBy(parentId) ?? []))
  if (ids.size === 0) return new Map()
  const wholes = await kernel.store.recordsById(workspaceId, [...ids])
  return new Map(wholes.flatMap(({ uuid, missionId }) => (missionId === null ? [] : [[uuid, missionId]])))
}

function joinTheWhole(task: Create, wholes: ReadonlyMap<string, number>, missions: NamedMissions): void {
  const missionId = task.parentId === undefined ? undefined : wholes.get(task.parentId)
  if (missionId === undefined) return
  const ofWhole = [...missions.values()].find(({ id }) => id === missionId)?.uuid
  task.mission ??= ofWhole
  if (task.mission !== ofWhole)
    throw Refused.field('VALIDATION_FAILED', 'mission', 'is not the mission of the task it is a part of')
}

/** The mission that a task joins. `field` names its fields in the request. */
export function missionJoined(
  task: Create,
  missions: NamedMissions,
  field: (name: string) => string,
): MissionRecord | null {
  if (task.mission === undefined) return null
  const mission = missions.get(task.mission)
  if (!mission)
    throw Refused.field('VALIDATION_FAILED', field('mission'), 'names no mission of this workspace')
  if (task.project !== undefined && task.project !== mission.project)
    throw Refused.field('VALIDATION_FAILED', field('project'), 'is not the project of its mission')
  return mission
}

/** What its creator says about how it is to be done and judged; null when that is nothing. */
export function planOf(
  task: Create,
  mission: MissionRecord | null,
  field: (name: string) => string,
): TaskPlan | null {
  const { complexity, estimatedTokens, successCriteria, outputSchema, systemPrompt, toolsRequested } = task
  // That a person judges it is all there is to say about that, and the task itself says it.
  const verification = task.verification?.kind === 'human' ? undefined : task.verification
  const said = task.model ?? complexity ?? estimatedTokens ?? successCriteria ?? outputSchema ?? systemPrompt
  const own = said ?? verification ?? task.budget
  if (mission === null && toolsRequested.length === 0 && own === undefined) return null
  if (outputSchema) refuseNoSchema(outputSchema, field)
  const uncheckable = outputSchema && verification?.kind === 'auto' ? whyUncheckable(outputSchema) : null
  if (uncheckable !== null)
    throw Refused.field(
      'VALIDATION_FAILED',
      field('outputSchema'),
      `cannot be checked without a judge: ${uncheckable}`,
    )
  const { model: given = null, taskType } = task
  return {
    tempId: null,
    sequenceNumber: null,
    model: mission ? modelOf({ model: given, taskType }, mission.config) : given,
    ...(mission?.config.models?.fallback && { fallbackModels: mission.config.models.fallback }),
    complexity: complexity ?? null,
    estimatedTokens: estimatedTokens ?? null,
    successCriteria: successCriteria ?? null,
    outputSchema: outputSchema ?? null,
    toolsRequested,
    systemPrompt: systemPrompt ?? null,
    budget: task.budget ?? null,
    verification: task.verification ?? null,
  }
}

function refuseNoSchema(schema: Record<string, unknown>, field: (name: string) => string): void {
  const problems = new Problems()
  const located = locateValue(schema, problems)
  if (located) checkOutputSchema(located, below(null, 'outputSchema'), problems)
  const [first] = problems.inOrder()
  if (first) throw Refused.field('VALIDATION_FAILED', field(first.path || 'outputSchema'), first.message)
}

/** How many retries the tasks of a mission have that say nothing about it; undefined: the mission does not say either. */
export const retriesIn = ({ retry }: MissionRecord['config']): number | undefined =>
  retry?.maxAttempts === undefined ? undefined : retry.maxAttempts - 1

/**
 * Before a request is validated: a task of a mission that names no priority, or no number of retries, gets those of its mission,
 * which never change. The defaults for other tasks are part of their shape.
 */
export async function giveDefaultsOfMissions(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  body: unknown,
): Promise<void> {
  const { tasks = [body] } = (body ?? {}) as { tasks?: unknown }
  if (!Array.isArray(tasks)) return
  const known = new Map<string, MissionRecord | null>()
  for (const task of tasks as { mission?: unknown; priority?: unknown; maxRetries?: unknown }[]) {
    const { mission, priority, maxRetries } = task ?? {}
    if (typeof mission !== 'string' || (priority !== undefined && maxRetries !== undefined)) continue
    if (!known.has(mission)) {
      const id = idCarriedBy(mission)
      const found = id === null ? null : await kernel.store.missions.find(workspaceId, id)
      known.set(mission, found?.uuid === mission ? found : null)
    }
    const joined = known.get(mission)
    if (!joined) continue
    const retries = retriesIn(joined.config)
    if (priority === undefined) task.priority = joined.priority
    if (maxRetries === undefined && retries !== undefined) task.maxRetries = retries
  }
}
