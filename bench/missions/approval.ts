import { setTimeout as sleep } from 'node:timers/promises'
import { approveMission, operateMission, requireMission } from '../../src/kinds/mission/acts/missions.ts'
import { ApproveBody } from '../../src/kinds/mission/shapes/missions.ts'
import { claimTask } from '../../src/kinds/task/acts/claims.ts'
import { ClaimBody } from '../../src/kinds/task/shapes/claims.ts'
import { type Measured, measured, openLoopDuring } from '../drive.ts'
import { type Spread, spreadOf } from '../rounds.ts'
import { uuidOf } from '../setup.ts'
import { layered, loose, type MissionBed, newMission } from './bed.ts'

export interface LargeMissionFigures {
  tasks: number
  approvalMs: Spread
  /** Claims of others in the same workspace, by the same process, while it is approved. */
  othersMeanwhile: Measured
  cancelMs: Spread
  /** The same of tasks without edges: none of them is skipped when another is cancelled. */
  looseCancelMs: Spread
}

const TIMES = 3
const CLAIMS_A_SECOND = 200
const WARM_UP = 1_000

/** Missions of so many tasks with two edges each: approved while others claim, then cancelled by the upkeep of a server. */
export async function largeMissions(
  bed: MissionBed,
  tasks: number,
  say: (what: string) => void,
): Promise<LargeMissionFigures> {
  const [approvals, cancels, looseCancels, latencies]: number[][] = [[], [], [], []]
  const cpu = process.cpuUsage()
  for (const size of [WARM_UP, ...Array<number>(TIMES).fill(tasks)]) {
    say(`q approval and cancellation of ${size} tasks`)
    const mission = await newMission(bed, layered(size), 'approve')
    const approval = await approvedBesideClaims(bed, mission)
    await bed.calm()
    const cancelMs = await bed.coordinated(() => cancelled(bed, mission))
    const others = await newMission(bed, loose(size), 'full_auto')
    await bed.calm()
    const looseCancelMs = await bed.coordinated(() => cancelled(bed, others))
    await bed.calm()
    if (size === WARM_UP) continue
    approvals!.push(approval.tookMs)
    cancels!.push(cancelMs)
    looseCancels!.push(looseCancelMs)
    latencies!.push(...approval.latencies)
  }
  const seconds = approvals!.reduce((sum, ms) => sum + ms, 0) / 1000
  return {
    tasks,
    approvalMs: spreadOf(approvals!),
    othersMeanwhile: measured(latencies!, seconds, process.cpuUsage(cpu)),
    cancelMs: spreadOf(cancels!),
    looseCancelMs: spreadOf(looseCancels!),
  }
}

/** By id, in the process that approves: what keeps it from answering counts. */
async function approvedBesideClaims(bed: MissionBed, mission: string) {
  const { kernel, caller } = bed
  const lot = await bed.fill(20 * CLAIMS_A_SECOND)
  const body = ClaimBody.parse({ agent: 'alpha', session: 's-1', leaseSeconds: 600 })
  const claim = (index: number) => claimTask(kernel, caller, uuidOf(lot, index), body)
  // Agent and session are known from here on.
  await claim(lot.count - 1)
  await bed.calm()
  return openLoopDuring(
    () => approveMission(kernel, caller, mission, ApproveBody.parse({})),
    CLAIMS_A_SECOND,
    claim,
  )
}

/** From the request until the mission has ended, and every task with it. */
async function cancelled({ kernel, caller }: MissionBed, uuid: string): Promise<number> {
  const start = performance.now()
  await operateMission(kernel, caller, uuid, { kind: 'cancel', reason: null })
  for (;;) {
    const { phase } = await requireMission(kernel, caller, uuid)
    if (phase === 'cancelled') return performance.now() - start
    if (phase !== 'running') throw new Error(`the mission is ${phase}`)
    await sleep(20)
  }
}
