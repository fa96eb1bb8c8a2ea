import type { View } from '../../src/kernel/batch/requests.ts'
import { Combiner } from '../../src/kernel/combiner.ts'
import { granted } from '../../src/kernel/kernel.ts'
import { createTasks } from '../../src/kinds/task/acts/tasks.ts'
import { TaskCreate } from '../../src/kinds/task/shapes/tasks.ts'
import { idCarriedBy } from '../../src/pure/ids.ts'
import { closedLoop } from '../drive.ts'
import { interleaved, type Spread, spreadOf } from '../rounds.ts'
import { cpuMsOfProcessTree } from '../server-cpu.ts'
import { loose, type MissionBed, makeMissionBed, newMission, type Task } from './bed.ts'

/** What tasks of a mission cost, of what they cost outside; and claims a second, of those without the counters of missions. */
export interface CostFigures {
  callers: number
  claims: Spread
  claimsCounted: Spread
  /** CPU of this process and of Postgres for the same claims: other programs on the machine do not change it. */
  claimsCountedCpu: Spread
  /** Claim and result: time that passed, and CPU of this process and of Postgres. */
  completionWall: Spread
  completionCpu: Spread
}

interface Round {
  claimMs: number
  wallMs: number
  cpuMs: number
}

/** In turn, a mission, as many tasks outside, and two missions of which one is not counted in each round. */
export async function costsOfMissions(
  bed: MissionBed,
  callers: number,
  count: number,
  times: number,
): Promise<CostFigures> {
  const inside: Task[][] = []
  const outside: Task[][] = []
  const counted: Task[][] = []
  const uncounted: Task[][] = []
  for (let round = 0; round <= times; round++) {
    inside.push(await bed.tasksOf(await newMission(bed, loose(count), 'full_auto')))
    counted.push(await bed.tasksOf(await newMission(bed, loose(count), 'full_auto')))
    uncounted.push(await bed.tasksOf(await newMission(bed, loose(count), 'full_auto')))
    outside.push(await tasksOutside(bed, count))
  }
  await bed.calm()
  const lines = [
    () => completed(bed, inside.pop()!, callers),
    () => completed(bed, outside.pop()!, callers),
    () => claimed(bed, counted.pop()!, callers, 'counted'),
    () => claimed(bed, uncounted.pop()!, callers, 'uncounted'),
  ]
  // Warms caches and plans up.
  for (const line of lines) await line()
  const [within, without, withCounters, withoutCounters] = await interleaved(times, lines)
  const ratios = (of: (one: Round) => number) => spreadOf(within!.map((one, i) => of(one) / of(without![i]!)))
  const rates = (of: readonly Round[], others: readonly Round[]) =>
    spreadOf(of.map(({ claimMs }, i) => others[i]!.claimMs / claimMs))
  return {
    callers,
    claims: rates(within!, without!),
    claimsCounted: rates(withCounters!, withoutCounters!),
    claimsCountedCpu: spreadOf(withCounters!.map(({ cpuMs }, i) => cpuMs / withoutCounters![i]!.cpuMs)),
    completionWall: ratios(({ wallMs }) => wallMs),
    completionCpu: ratios(({ cpuMs }) => cpuMs),
  }
}

async function tasksOutside({ kernel, caller }: MissionBed, count: number): Promise<Task[]> {
  const task = TaskCreate.parse({ title: 'Task', taskType: 'coding' })
  const views = await createTasks(kernel, caller, Array(count).fill(task))
  return views.map(({ id: uuid }) => ({ id: idCarriedBy(uuid)!, uuid }))
}

const CLAIM = { kind: 'claim', agent: 'a', session: 's', leaseMs: 600_000, capabilities: [] } as const
const SUBMIT = {
  kind: 'submit',
  fence: { session: 's', generation: 1 },
  submission: { data: '1', bytes: 1, hash: 'h', summary: null },
} as const

async function completed(
  { kernel, caller, pid }: MissionBed,
  tasks: readonly Task[],
  callers: number,
): Promise<Round> {
  const each = (command: typeof CLAIM | typeof SUBMIT) =>
    timeOf(callers, tasks, async ({ id: taskId, uuid }) => {
      granted(await kernel.run(caller, { on: 'task', taskId, uuid, command }))
    })
  const cpuMs = cpuFrom(pid)
  const claimMs = await each(CLAIM)
  const wallMs = claimMs + (await each(SUBMIT))
  return { claimMs, wallMs, cpuMs: cpuMs() }
}

/** The CPU of this process and of Postgres from here on. */
function cpuFrom(pid: number): () => number {
  const [node, server] = [process.cpuUsage(), cpuMsOfProcessTree(pid)]
  return () => {
    const { user, system } = process.cpuUsage(node)
    return (user + system) / 1000 + cpuMsOfProcessTree(pid) - server
  }
}

/** Claims by a combiner of their own, with what they add to the counters of their mission or without it. */
async function claimed(
  { store, workspaceId, caller: { actor }, pid }: MissionBed,
  tasks: readonly Task[],
  callers: number,
  counters: 'counted' | 'uncounted',
): Promise<Round> {
  const combiner = new Combiner({
    transact: (workspaceId, { decide, ...step }) =>
      store.transact(workspaceId, {
        ...step,
        decide: (view: View) => {
          const { answer, changes } = decide(view)
          const deltas = counters === 'counted' ? changes.missions.deltas : new Map()
          return { answer, changes: { ...changes, missions: { ...changes.missions, deltas } } }
        },
      }),
  })
  const cpuMs = cpuFrom(pid)
  const claimMs = await timeOf(callers, tasks, async ({ id: taskId, uuid }) => {
    const reply = await combiner.run(workspaceId, { on: 'task', taskId, uuid, command: CLAIM, actor })
    if (!reply.ok) throw new Error(`claim was refused: ${reply.code}`)
  })
  return { claimMs, wallMs: Number.NaN, cpuMs: cpuMs() }
}

async function timeOf(callers: number, tasks: readonly Task[], act: (task: Task) => Promise<void>) {
  const start = performance.now()
  await closedLoop(callers, tasks.length, (i) => act(tasks[i]!))
  return performance.now() - start
}

export interface PausedFigures {
  missions: number
  /** Claims of the next task a second, of those in a database without missions. */
  claims: Spread
}

const TASKS_OF_A_PAUSED_MISSION = 10
const CALLERS = 64
const CLAIMS = 4_000

/** Two databases with the upkeep of a server, one of them with paused missions. */
export async function besidePaused(missions: number, times: number): Promise<PausedFigures> {
  const beds = [await makeMissionBed(), await makeMissionBed()]
  try {
    for (let made = 0; made < missions; made += 20)
      await Promise.all(Array.from({ length: 20 }, () => pausedMission(beds[1]!)))
    for (const bed of beds) {
      await bed.fill((times + 1) * CLAIMS)
      await bed.calm()
      await bed.admin.query('vacuum (analyze) missions, mission_counters')
    }
    const lines = beds.map((bed) => () => bed.coordinated(() => nextTasks(bed)))
    for (const line of lines) await line()
    const [alone, beside] = await interleaved(times, lines)
    return { missions, claims: spreadOf(beside!.map((rate, i) => rate / alone![i]!)) }
  } finally {
    for (const bed of beds) await bed.close()
  }
}

async function pausedMission(bed: MissionBed): Promise<void> {
  const { kernel, caller } = bed
  const uuid = await newMission(bed, loose(TASKS_OF_A_PAUSED_MISSION), 'full_auto')
  const command = { kind: 'pause', reason: null } as const
  granted(await kernel.run(caller, { on: 'mission', key: uuid, uuid, command }))
}

async function nextTasks({ kernel, caller }: MissionBed): Promise<number> {
  const { perSecond } = await closedLoop(CALLERS, CLAIMS, async () => {
    const pick = { agent: 'a', capabilities: [] }
    const next = { on: 'next', pick, session: 's', leaseMs: 600_000, limit: 1 } as const
    const { claims } = granted(await kernel.run(caller, next))
    if (claims.length !== 1) throw new Error('next gave nothing')
  })
  return perSecond
}
