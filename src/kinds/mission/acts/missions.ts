import { randomInt } from 'node:crypto'
import type { z } from 'zod'
import { refuseOwnAgent } from '../../../door/named-agents.ts'
import type { RunKernel, ServerKernel } from '../../../door/server-kernel.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { idCarriedBy, uuidCarrying } from '../../../pure/ids.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { givenMissionPlan } from '../../project/acts/read-plan-apart.ts'
import { namedProject } from '../../project/acts.ts'
import { commentFrom } from '../../task/acts/comment-from.ts'
import { refuseCommands } from '../../task/acts/named-commands.ts'
import { modelOf } from '../../task/rules/new-task.ts'
import { comparePlans } from '../plan/compare.ts'
import { type EstimateOptions, estimateTasks } from '../plan/estimate.ts'
import type { MissionPlan } from '../plan/mission-plan.ts'
import { defaultTitle } from '../plan/plan.ts'
import { storedPlan } from '../plan/stored-plan.ts'
import { planAsWritten } from '../plan/write.ts'
import { simulatedMissions } from '../postgres/reads.ts'
import type { MissionRecord, PlanVersion } from '../record.ts'
import type { MissionCommand, ProposedPlan } from '../rules/command.ts'
import { awaitsAcceptance } from '../rules/outcome.ts'
import { hasProposal } from '../rules/replan.ts'
import {
  type ApproveBody,
  MissionConfig,
  type MissionCreate,
  type MissionView,
  type PlanVersionView,
  type RejectBody,
} from '../shapes/missions.ts'
import { isEnd } from '../states.ts'
import { pricedByAgents } from './agent-models.ts'
import { yieldToOthers } from './large-plans.ts'
import { refuseAgents } from './plan-agents.ts'
import { planDigest } from './plan-digest.ts'
import { missionPlan, refuseCancelling, tasksOf } from './plan-tasks.ts'
import { planningTask } from './planning-task.ts'
import { type Replanning, replanningOf } from './replan.ts'
import { missionView, planVersionView } from './views.ts'

/** Missions: created with a plan, approved, paused, resumed and cancelled. */

type Answer = AnswerOf<typeof MissionView>

const noMission = (uuid: string) => new Refused('NOT_FOUND', `There is no mission ${uuid} in this workspace.`)

export async function requireMission(
  kernel: RunKernel,
  { workspaceId }: Caller,
  uuid: string,
): Promise<MissionRecord> {
  const id = idCarriedBy(uuid)
  const mission = id === null ? null : await kernel.store.missions.find(workspaceId, id)
  if (mission?.uuid !== uuid) throw noMission(uuid)
  return mission
}

export async function createMission(
  kernel: ServerKernel,
  caller: Caller,
  body: z.output<typeof MissionCreate>,
): Promise<Answer> {
  const plan = body.plan === undefined ? null : await givenMissionPlan(body.plan)
  refuseCommands(caller, commandsIn(plan, body.config.commands))
  await refuseOwnAgent(kernel, caller, [['planner.agent', body.planner?.agent]])
  if (plan) {
    refuseCancelling(plan)
    await refuseAgents(kernel, caller.workspaceId, plan, null)
  }
  const slug = body.project ?? plan?.project ?? undefined
  const projectId = (await namedProject(kernel, caller, slug)) ?? 0
  await refuseReporter(kernel, caller, body.config.reportAgent)
  const id = await kernel.store.missions.freshId(caller.workspaceId)
  const { goal, tags, priority } = body
  // Requests are checked by the schema of its shape; here it gets the form in which it is stored.
  const config = MissionConfig.parse({ ...body.config, planner: body.planner })
  const title = body.title ?? plan?.title ?? defaultTitle('Mission', goal)
  const description = body.description ?? null
  const project = slug ?? null
  // The time in the id is only for people who sort by it: it is this node's.
  const uuid = uuidCarrying(id, Date.now(), randomInt(2 ** 22))
  const mission = {
    id,
    uuid,
    goal,
    title,
    description,
    priority,
    projectId,
    project,
    config,
    createdBy: caller.actor,
  }
  const command: MissionCommand = {
    ...{ kind: 'create', id, goal, title, description, tags, priority, projectId, project, config },
    startAt: body.startAt === undefined ? null : Date.parse(body.startAt),
    after: body.after === undefined ? null : await missionBefore(kernel, caller, body.after),
    proposed: plan && proposed(plan, mission, await pricedByAgents(kernel, caller.workspaceId)),
    planning: plan ? null : await planningTask(kernel, caller.workspaceId, mission),
  }
  return act(kernel, caller, uuid, command)
}

export async function refuseReporter(kernel: ServerKernel, caller: Caller, slug: string | undefined) {
  if (slug === undefined) return
  await refuseOwnAgent(kernel, caller, [['config.reportAgent', slug]])
  const [found] = await kernel.store.agents.list(caller.workspaceId, { slugs: [slug] }, 1)
  if (!found || found.record.state === 'terminated')
    throw Refused.field(
      'VALIDATION_FAILED',
      'config.reportAgent',
      `is "${slug}", which is no agent of this workspace`,
    )
}

/** Where a plan, or the configuration of a mission, names commands. */
export const commandsIn = (plan: MissionPlan | null, allowed: readonly string[] = []): string[] => [
  ...(plan?.tasks ?? []).flatMap(({ verification }, place) =>
    verification?.kind === 'command' ? [`plan.tasks[${place}].verification.command`] : [],
  ),
  ...(allowed.length > 0 ? ['config.commands'] : []),
]

/** The mission that a new one waits for. */
async function missionBefore(kernel: ServerKernel, { workspaceId }: Caller, uuid: string) {
  const id = idCarriedBy(uuid)
  const mission = id === null ? null : await kernel.store.missions.find(workspaceId, id)
  if (mission?.uuid !== uuid)
    throw Refused.field('VALIDATION_FAILED', 'after', 'names no mission of this workspace')
  return { id: mission.id, uuid, hasEnded: isEnd(mission.phase) }
}

/** What was shown named no task to cancel beside those of the plan. */
async function refuseIfChanged(
  kernel: ServerKernel,
  caller: Caller,
  mission: MissionRecord,
  plan: MissionPlan,
  seen: string,
): Promise<void> {
  const { preview } = await replanningOf(kernel, caller, mission, plan)
  if (preview.digest === seen) return
  const now = { planVersion: mission.plan!.version, preview }
  throw new Refused('CHANGED_SINCE', 'The approval would do something else by now.', now)
}

const pickChanges = ({ tasks, changes }: Replanning) => ({ tasks, changes })

/** A plan as it is stored, and its tasks. */
export function proposed(
  plan: MissionPlan,
  mission: Parameters<typeof tasksOf>[1],
  prices: EstimateOptions,
): ProposedPlan {
  const estimated = plan.tasks.map((task) => ({
    ...task,
    id: task.tempId,
    model: modelOf(task, mission.config),
  }))
  const { estimatedTokens, costUsd } = estimateTasks(estimated, prices)
  return {
    plan: {
      digest: planDigest(plan),
      taskCount: plan.tasks.length,
      strategy: plan.strategy,
      estimatedTokens,
      estimatedUsd: costUsd,
      body: JSON.stringify(planAsWritten(plan)),
    },
    tasks: tasksOf(plan, mission),
  }
}

async function act(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  command: MissionCommand,
): Promise<Answer> {
  const reply = granted(await kernel.run(caller, { on: 'mission', key: uuid, uuid, command }))
  return showMission(kernel, caller, reply.record.uuid)
}

export async function showMission(kernel: ServerKernel, caller: Caller, uuid: string): Promise<Answer> {
  const mission = await requireMission(kernel, caller, uuid)
  const simulated = await simulatedMissions(kernel.store.readers, caller.workspaceId, [mission.id])
  const shown = missionView(mission, simulated.has(mission.id))
  if (!hasProposal(mission)) return shown
  const { plan } = await newestPlan(kernel, caller, mission)
  return { ...shown, preview: (await replanningOf(kernel, caller, mission, plan)).preview }
}

/** The newest plan and its tasks, as they would be created now. */
async function newestPlan(kernel: RunKernel, { workspaceId }: Caller, mission: MissionRecord) {
  const version = mission.plan?.version
  const stored =
    version === undefined ? null : await kernel.store.missions.plan(workspaceId, mission.id, version)
  if (!stored) throw new Refused('WRONG_STATE', 'There is no plan that waits for approval.')
  const plan = missionPlan(JSON.parse(stored.body!))
  await yieldToOthers(plan.tasks.length)
  const tasks = tasksOf(plan, mission)
  await yieldToOthers(tasks.length)
  return { version: stored.version, plan, tasks }
}

/** Its time has come. */
export async function startCommand(kernel: RunKernel, caller: Caller, uuid: string): Promise<MissionCommand> {
  const mission = await requireMission(kernel, caller, uuid)
  if (mission.plan === null)
    return { kind: 'start', tasks: [], planning: await planningTask(kernel, caller.workspaceId, mission) }
  const { tasks } = await newestPlan(kernel, caller, mission)
  return { kind: 'start', tasks, planning: null }
}

export async function approveMission(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  { planVersion, digest, comment, preview, cancel }: z.output<typeof ApproveBody>,
): Promise<Answer> {
  const mission = await requireMission(kernel, caller, uuid)
  if (awaitsAcceptance(mission))
    return act(kernel, caller, uuid, { kind: 'accept', said: commentFrom(comment) })
  const { version, plan, tasks } = await newestPlan(kernel, caller, mission)
  await refuseAgents(kernel, caller.workspaceId, plan, mission)
  // By the version that was read: if there is a newer one by now, its tasks are not these.
  const seen = { planVersion: planVersion ?? version, digest }
  const named = { kind: 'approve', comment: comment ?? null, said: commentFrom(comment), ...seen } as const
  if (!hasProposal(mission)) return act(kernel, caller, uuid, { ...named, tasks, changes: [] })
  const replanning = await replanningOf(kernel, caller, mission, plan, cancel)
  if (preview !== undefined) await refuseIfChanged(kernel, caller, mission, plan, preview)
  return act(kernel, caller, uuid, { ...named, ...pickChanges(replanning) })
}

export async function rejectMission(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  { then: outcome, comment, planVersion, digest }: z.output<typeof RejectBody>,
): Promise<Answer> {
  const mission = await requireMission(kernel, caller, uuid)
  if (awaitsAcceptance(mission)) return declineOutcome(kernel, caller, mission, outcome, comment)
  const seen = { planVersion, digest, comment: comment ?? null, said: commentFrom(comment) }
  // One that runs is not planned again, whatever it is by the time of the decision.
  const isPlanned = mission.phase !== 'running' && outcome === 'replan'
  const planning = isPlanned ? await replanning(kernel, caller, mission, comment) : null
  const { approved } = mission
  const followed =
    approved && (await kernel.store.missions.plan(caller.workspaceId, mission.id, approved.version))
  return act(kernel, caller, uuid, { kind: 'reject', outcome, planning, followed, ...seen })
}

/** What is missing is planned next: by the planner, or by a person. */
async function declineOutcome(
  kernel: ServerKernel,
  caller: Caller,
  mission: MissionRecord,
  then: 'fail' | 'replan',
  missing: string | undefined,
): Promise<Answer> {
  if (missing === undefined || missing.trim() === '')
    throw Refused.field('VALIDATION_FAILED', 'comment', 'is missing; it says what the outcome lacks')
  const planning = then === 'replan' ? await replanning(kernel, caller, mission, missing) : null
  return act(kernel, caller, mission.uuid, { kind: 'decline', missing, planning, said: commentFrom(missing) })
}

/** The task of making another plan than the newest one. */
async function replanning(
  kernel: RunKernel,
  { workspaceId }: Caller,
  mission: MissionRecord,
  comment: string | undefined,
) {
  const version = mission.plan?.version
  const stored =
    version === undefined ? null : await kernel.store.missions.plan(workspaceId, mission.id, version)
  const previous = stored && { plan: storedPlan(stored.body!), comment: comment ?? null }
  return planningTask(kernel, workspaceId, mission, previous)
}

/** Another plan for a mission that has not ended. */
export async function proposePlan(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  plan: MissionPlan,
  seenVersion?: number,
): Promise<Answer> {
  refuseCommands(caller, commandsIn(plan))
  const mission = await requireMission(kernel, caller, uuid)
  await refuseAgents(kernel, caller.workspaceId, plan, mission)
  const given = proposed(plan, mission, await pricedByAgents(kernel, caller.workspaceId))
  if (mission.phase !== 'running') {
    refuseCancelling(plan)
    return act(kernel, caller, uuid, { kind: 'propose', proposed: given, seenVersion })
  }
  // Its approval makes its tasks, as changes to the tasks that exist then.
  const { estimate } = await replanningOf(kernel, caller, mission, plan)
  const costs = { estimatedTokens: estimate.estimatedTokens, estimatedUsd: estimate.costUsd }
  return act(kernel, caller, uuid, {
    kind: 'propose',
    proposed: { plan: { ...given.plan, ...costs }, tasks: [] },
    seenVersion,
  })
}

/** Acts that need no more than the mission. */
export async function operateMission(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  command: Extract<MissionCommand, { kind: 'pause' | 'resume' | 'cancel' | 'update' | 'retry' | 'seen' }>,
): Promise<Answer> {
  await requireMission(kernel, caller, uuid)
  return act(kernel, caller, uuid, command)
}

const withoutVersion = ({ version: _v, planner: _p, routine: _r, outcome: _o, ...rest }: MissionConfig) =>
  rest

/** The same goal, plan and settings, as a new mission. */
export async function cloneMission(kernel: ServerKernel, caller: Caller, uuid: string): Promise<Answer> {
  const mission = await requireMission(kernel, caller, uuid)
  const { goal, title, tags, priority, project, config, description, plan } = mission
  const stored = plan && (await kernel.store.missions.plan(caller.workspaceId, mission.id, plan.version))
  return createMission(kernel, caller, {
    ...{ goal, title, tags: [...tags], priority, config: withoutVersion(config) },
    ...(project === null ? {} : { project }),
    ...(description === null ? {} : { description }),
    ...(config.planner === undefined ? {} : { planner: config.planner }),
    plan: stored ? JSON.parse(stored.body!) : undefined,
  })
}

/** The newest plan or another version, and what differs from a third one. */
export async function showPlan(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
  asked: { version?: string | undefined; since?: string | undefined },
): Promise<AnswerOf<typeof PlanVersionView>> {
  const mission = await requireMission(kernel, caller, uuid)
  const versionOf = async (wanted: number) => {
    const found = await kernel.store.missions.plan(caller.workspaceId, mission.id, wanted)
    if (!found) throw new Refused('NOT_FOUND', `The mission has no plan of version ${wanted}.`)
    return found
  }
  const plan = await versionOf(Number(asked.version ?? mission.plan?.version ?? 1))
  const shown = planVersionView(plan, mission)
  if (asked.since === undefined) return shown
  const planOf = ({ body }: PlanVersion) => missionPlan(JSON.parse(body!))
  return { ...shown, changes: comparePlans(planOf(await versionOf(Number(asked.since))), planOf(plan)) }
}
