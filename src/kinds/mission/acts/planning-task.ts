import type { RunKernel } from '../../../door/server-kernel.ts'
import { throwIfNotLeader } from '../../../kernel/caller.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AgentRecord } from '../../agent/record.ts'
import { modelOfAgent } from '../../agent/rules/model.ts'
import { type PriceTable, priceOf } from '../../run/prices/cost.ts'
import { type PlanningRequest, planningText, type RosterEntry } from '../../run/prompts/planning.ts'
import { newTask } from '../../task/rules/new-task.ts'
import type { MissionRecord } from '../record.ts'
import type { PlanningTask } from '../rules/command.ts'
import { isBeingPlanned } from '../rules/outcome.ts'

/** The task of planning a mission. */

/** How often a planner may answer; then a person has to plan. */
const TURNS = 3
/** Of agents that plan missions for which no planner is named. */
const PLANNING = 'planning'

type Planned = Pick<
  MissionRecord,
  'id' | 'goal' | 'title' | 'description' | 'priority' | 'projectId' | 'project' | 'config' | 'createdBy'
>

export async function planningTask(
  kernel: RunKernel,
  workspaceId: number,
  mission: Planned,
  previous: PlanningRequest['previous'] = null,
): Promise<PlanningTask> {
  const listed = await kernel.store.agents.list(workspaceId, {}, 10_000)
  const prices = await kernel.prices(workspaceId)
  const agents = listed
    .map(({ record }) => record)
    .filter(({ state, adapterType }) => state !== 'terminated' && adapterType !== 'command')
  const planner = mission.config.planner?.agent ?? null
  const isThere = ({ slug, capabilities }: AgentRecord) =>
    planner === null ? capabilities.includes(PLANNING) : slug === planner
  const roster = agents.filter(({ kind }) => kind === 'roster')
  const found = (planner === null ? roster : agents).find(isThere)
  if (!found) throw noPlanner(planner)
  const { goal, description, config, title } = mission
  const text = planningText({
    goal,
    description,
    config,
    roster: roster.map((one) => rosterEntry(one, prices)),
    previous,
  })
  const task = newTask({
    // The mission can end without it.
    optional: true,
    projectId: mission.projectId,
    priority: mission.priority,
    missionId: mission.id,
    maxRetries: TURNS - 1,
    onlyAgent: planner,
    capabilities: planner === null ? [PLANNING] : [],
    verification: 'baton',
    purpose: 'planning',
    details: {
      title: `Plan: ${title}`,
      taskType: PLANNING,
      description: text,
      input: { goal },
      project: mission.project,
      createdBy: mission.createdBy,
    },
  })
  // Whoever is free plans a mission without a planner: which model that is, its plan says.
  return { ...task, plannerModel: planner === null ? null : modelOfAgent(found) }
}

/** The planner gave up, or its plans were not valid: a person has to plan. */
export async function planningEnded(kernel: RunKernel, caller: Caller, missionId: number): Promise<void> {
  const { workspaceId } = caller
  const mission = await kernel.store.missions.find(workspaceId, missionId)
  const taskId = await kernel.store.missions.newestPlanning(workspaceId, missionId)
  const task = taskId === null ? null : await kernel.store.task(workspaceId, taskId)
  // A person has planned it in the meantime, or it is being planned again.
  if (!mission || !isBeingPlanned(mission) || task?.record.completedAt === null) return
  const reason = task?.details.error ?? `The planning task is ${task?.record.state ?? 'gone'}.`
  const { uuid } = mission
  const command = { kind: 'planFailed', reason } as const
  throwIfNotLeader(await kernel.run(caller, { on: 'mission', key: uuid, uuid, command }))
}

const noPlanner = (planner: string | null) =>
  planner === null
    ? Refused.field('VALIDATION_FAILED', 'plan', `is missing, and no agent has the capability "${PLANNING}"`)
    : Refused.field(
        'VALIDATION_FAILED',
        'planner.agent',
        `is "${planner}", which is no agent of this workspace`,
      )

function rosterEntry(agent: AgentRecord, prices: PriceTable): RosterEntry {
  const { slug, capabilities, taskTypes } = agent
  const { role = null } = (agent.runtimeConfig ?? {}) as { role?: string }
  const model = modelOfAgent(agent)
  const price = model === null ? null : priceOf(model, prices)
  return {
    slug,
    role,
    capabilities,
    taskTypes,
    model,
    price: price && { input: price.input, output: price.output },
  }
}
