import {
  approveMission,
  createMission,
  operateMission,
  proposePlan,
  rejectMission,
  showMission,
} from '../../../src/kinds/mission/acts/missions.ts'
import { missionPlan } from '../../../src/kinds/mission/acts/plan-tasks.ts'
import type { MissionRecord } from '../../../src/kinds/mission/record.ts'
import type { MissionCommand } from '../../../src/kinds/mission/rules/command.ts'
import { MissionCreate } from '../../../src/kinds/mission/shapes/missions.ts'
import { isEnd } from '../../../src/kinds/mission/states.ts'
import { missionsNamed } from '../../../src/kinds/task/acts/joining.ts'
import { command, createTasks } from '../../../src/kinds/task/acts/tasks.ts'
import type { TaskCommand } from '../../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import { TaskCreate } from '../../../src/kinds/task/shapes/tasks.ts'
import { isTerminal, TRIGGER_RULES } from '../../../src/pure/states.ts'
import { type Act, attempted } from './network.ts'
import { changedPlan, drawPlan, type PlanStored } from './plans.ts'
import { onRoutine, settleDown } from './routines.ts'
import { submissionOf } from './workers.ts'
import type { MissionWorld } from './world.ts'

/** People: they want things, decide about plans and results, interfere, and help in the end. */

export async function createMissions(world: MissionWorld): Promise<void> {
  const { random, scheduler, stormMs } = world
  const count = random.int(1, 4)
  for (let i = 0; i < count; i++) {
    await scheduler.sleep(random.int(0, (stormMs * 0.7) / count), 'somebody has a goal')
    await call(world, 'create', (kernel) => createMission(kernel, world.person, drawMission(world)))
  }
}

function drawMission(world: MissionWorld) {
  const { random, agents, scheduler } = world
  const missions = missionsOf(world)
  const autonomy = random.pick(['approve', 'full_auto', 'full_auto', 'autonomous'] as const)
  return MissionCreate.parse({
    goal: 'Make it work.',
    ...(random.chance(0.7) && { plan: drawPlan(random, agents) }),
    ...(random.chance(0.2) && { planner: { agent: random.pick(agents) } }),
    ...(random.chance(0.15) && { startAt: new Date(scheduler.now + random.int(0, 30_000)).toISOString() }),
    ...(missions.length > 0 && random.chance(0.15) && { after: random.pick(missions).uuid }),
    config: {
      autonomy,
      ...(autonomy === 'autonomous' && { approveBelowUsd: '100' }),
      onFailure: random.pick(['continue', 'continue', 'stop']),
      ...(random.chance(0.3) && { maxParallel: random.int(1, 2) }),
      ...(random.chance(0.2) && { timeouts: { deadlineSeconds: random.pick([20, 90]) } }),
      ...(random.chance(0.2) && { anotherModelOnRetry: true }),
      ...(random.chance(0.25) && { reportAgent: random.pick(agents) }),
    },
  })
}

const missionsOf = ({ memory, workspace }: MissionWorld) => [...memory.whole(workspace).missions.values()]
const tasksOf = ({ memory, workspace }: MissionWorld) => [...memory.whole(workspace).tasks.values()]

const call = <T>(world: MissionWorld, what: string, act: Act<T>) =>
  attempted(world.network.call(`a person: ${what}`, act))

const ACTS = {
  ...{ approve: 5, reject: 1.2, propose: 3, add: 2.5, divide: 1, pause: 2, resume: 3, cancel: 0.5, retry: 2 },
  ...{ budget: 0.7, raise: 1, decide: 6, onTask: 3, onRoutine: 2, look: 0.5 },
}

export async function interfere(world: MissionWorld): Promise<void> {
  const { random, scheduler } = world
  for (;;) {
    await scheduler.sleep(random.int(100, 3_000), 'somebody acts')
    if (world.season !== 'storm') return
    await act(world, random.weighted(ACTS))
  }
}

async function act(world: MissionWorld, kind: keyof typeof ACTS): Promise<unknown> {
  const { random, person } = world
  if (kind === 'onRoutine') return onRoutine(world)
  const missions = missionsOf(world)
  if (missions.length === 0) return null
  const mission = random.pick(missions)
  const { uuid } = mission
  const operate = (done: Parameters<typeof operateMission>[3]) =>
    call(world, done.kind, (kernel) => operateMission(kernel, person, uuid, done))
  switch (kind) {
    case 'approve':
      return approve(world, mission)
    case 'reject': {
      // biome-ignore lint/suspicious/noThenProperty: the name that clients use, on a value that is never awaited
      const body = { then: random.pick(['fail', 'replan'] as const), comment: 'Not like this.' }
      return call(world, 'reject', (kernel) => rejectMission(kernel, person, uuid, body))
    }
    case 'propose':
      return propose(world, mission)
    case 'add':
      return add(world, mission)
    case 'divide':
      return divide(world)
    case 'pause':
    case 'cancel':
    case 'retry':
      return operate({ kind, reason: null })
    case 'resume':
      return operate({ kind })
    case 'budget':
      return operate({ kind: 'update', ifVersion: null, patch: { budget: { maxUsd: '0' } } })
    case 'raise':
      return operate({ kind: 'update', ifVersion: null, patch: { budget: {} } })
    case 'decide':
      return decide(world, random.chance(0.7))
    case 'onTask':
      return onTask(world)
    case 'look':
      // Whoever looks at one that has ended says so.
      return isEnd(mission.phase)
        ? operate({ kind: 'seen' })
        : call(world, 'look', (kernel) => showMission(kernel, person, uuid))
  }
}

function approve(world: MissionWorld, { uuid, plan }: MissionRecord): Promise<unknown> {
  const { random, person } = world
  const body = random.chance(0.5) && plan ? { planVersion: plan.version, digest: plan.digest } : {}
  return call(world, 'approve', (kernel) => approveMission(kernel, person, uuid, body))
}

/** A plan for a mission that has none, or another one: also while it runs. */
function propose(world: MissionWorld, { uuid, plan }: MissionRecord): Promise<unknown> {
  const { random, agents, person, memory, workspace } = world
  const { body } = memory.whole(workspace).missionPlans.get(uuid)?.at(-1) ?? { body: null }
  const given =
    plan && body ? changedPlan(random, agents, JSON.parse(body) as PlanStored) : drawPlan(random, agents)
  return call(world, 'propose', async (kernel) => proposePlan(kernel, person, uuid, missionPlan(given)))
}

/** Another task for a mission that runs. */
function add(world: MissionWorld, mission: MissionRecord): Promise<unknown> {
  const { random } = world
  const others = tasksOf(world).filter(
    ({ missionId, purpose }) => missionId === mission.id && purpose === 'work',
  )
  const dependsOn = others.filter(() => random.chance(0.2)).map(({ uuid }) => uuid)
  const triggerRule = random.chance(0.6) ? 'all_success' : random.pick(TRIGGER_RULES)
  const verification = random.chance(0.2) ? { kind: 'human' } : undefined
  const more = { triggerRule, verification, optional: random.chance(0.2), maxRetries: random.int(0, 2) }
  return create(world, 'add', { title: 'One more', mission: mission.uuid, dependsOn, ...more })
}

function divide(world: MissionWorld): Promise<unknown> {
  const { random } = world
  const waiting = tasksOf(world).filter(({ state, purpose }) => purpose === 'work' && state === 'queued')
  if (waiting.length === 0) return Promise.resolve(null)
  const merge = random.pick(['object', 'task'])
  return create(world, 'divide', {
    title: 'A part',
    parentId: random.pick(waiting).uuid,
    merge,
    maxRetries: 1,
  })
}

function create(world: MissionWorld, what: string, task: object): Promise<unknown> {
  const { person } = world
  const key = `${what} ${world.random.int(1, 1e9)}`
  return call(world, what, async (kernel) => {
    const tasks = [TaskCreate.parse({ ...task, idempotencyKey: key })]
    return createTasks(kernel, person, tasks, await missionsNamed(kernel, person, tasks))
  })
}

/** About a task that waits for a person. */
function decide(world: MissionWorld, isGood: boolean): Promise<unknown> {
  const waiting = tasksOf(world).filter(({ state }) => state === 'awaiting_human')
  if (waiting.length === 0) return Promise.resolve(null)
  const task = world.random.pick(waiting)
  return tell(world, task, decisionOn(task, isGood, world.random.chance(0.3)))
}

function decisionOn(
  { attention, generation, resultHash }: TaskRecord,
  isGood: boolean,
  forGood: boolean,
): TaskCommand {
  if (attention?.asks) return { kind: 'answer', answer: 'Red.', generation }
  if (resultHash === null) return { kind: 'retry', reason: null, generation }
  if (isGood) return { kind: 'approve', comment: null, generation, digest: resultHash }
  return { kind: 'reject', comment: 'No.', generation, forGood }
}

const tell = (world: MissionWorld, { id, uuid }: TaskRecord, done: TaskCommand) =>
  call(world, `${done.kind} task ${id}`, (kernel) => command(kernel, world.person, uuid, done))

const ON_TASKS = {
  cancel: 2,
  pause: 2,
  resume: 2,
  retry: 2,
  reset: 1,
  skip: 3,
  complete: 3,
  approve: 1,
  reject: 2,
}

/** Something about any task, whether it is possible or not. */
function onTask(world: MissionWorld): Promise<unknown> {
  const { random } = world
  const all = tasksOf(world)
  const open = all.filter(({ state }) => !isTerminal(state))
  const tasks = open.length > 0 && random.chance(0.7) ? open : all
  if (tasks.length === 0) return Promise.resolve(null)
  const kind = random.weighted(ON_TASKS)
  const commands: Record<keyof typeof ON_TASKS, TaskCommand> = {
    cancel: { kind: 'cancel', reason: null },
    pause: { kind: 'pause', reason: null },
    resume: { kind: 'resume' },
    retry: { kind: 'retry', reason: null },
    reset: { kind: 'reset', reason: null },
    skip: { kind: 'skip', reason: 'not needed' },
    complete: { kind: 'complete', submission: submissionOf({ by: 'hand' }), comment: null },
    approve: { kind: 'approve', comment: null },
    reject: { kind: 'reject', comment: null },
  }
  return tell(world, random.pick(tasks), commands[kind])
}

/** When the world is calm, people let everything continue that waits for them. */
export async function help(world: MissionWorld): Promise<void> {
  for (;;) {
    await settleDown(world)
    for (const mission of missionsOf(world)) await helpMission(world, mission)
    for (const task of tasksOf(world)) await helpTask(world, task)
    await world.scheduler.sleep(10_000, 'somebody helps')
  }
}

async function helpMission(world: MissionWorld, mission: MissionRecord): Promise<void> {
  const { uuid, phase, closedBy, plan, approved } = mission
  if (isEnd(phase)) return
  const operate = (done: Extract<MissionCommand, { kind: 'resume' | 'update' }>) =>
    call(world, done.kind, (kernel) => operateMission(kernel, world.person, uuid, done))
  if (closedBy.includes('paused')) await operate({ kind: 'resume' })
  if (closedBy.includes('budget')) await operate({ kind: 'update', ifVersion: null, patch: { budget: {} } })
  if (phase !== 'awaiting_approval') return
  // A plan that cannot be approved, for instance because its tasks are refused, is replaced.
  const isApproved = plan && !approved && (await approve(world, mission))
  if (!isApproved)
    await call(world, 'plan', async (kernel) =>
      proposePlan(kernel, world.person, uuid, missionPlan({ tasks: [{ tempId: 'only' }] })),
    )
}

async function helpTask(world: MissionWorld, task: TaskRecord): Promise<void> {
  if (isTerminal(task.state)) return
  if (task.state === 'awaiting_human') await tell(world, task, decisionOn(task, true, false))
  if (task.state === 'budget_exceeded') await tell(world, task, { kind: 'resume' })
  if (task.state === 'paused' && !task.continuation?.pausedByMission)
    await tell(world, task, { kind: 'resume' })
}
