import type { AgentProfile } from '../../src/kinds/agent/record.ts'
import { CAPABILITY } from './plan-tasks.ts'
import type { Random } from './random.ts'

/** What an agent registers with. */
type Registration = Pick<
  AgentProfile,
  'maxConcurrentTasks' | 'heartbeatMs' | 'staleMs' | 'coordinatorEnabled'
>

export interface AgentPlan {
  name: string
  capabilities: readonly string[]
  /** Its wall clock is wrong by this much, */
  clockOffsetMs: number
  /** and runs at this speed. */
  clockRate: number
  leaseMs: number
  /** Renews its leases beside its work, as a worker or a registered agent all of them at once. */
  heartbeats: boolean
  /** Continues work it may have lost, and reports nothing. */
  zombie: boolean
  /** Asks to continue all the time. */
  talkative: boolean
  /** Sometimes names a generation or session that is not its own. */
  confused: boolean
  /** How its sessions begin: opened explicitly, as a worker, or merely named. */
  session: 'opened' | 'worker' | 'mentioned' | 'unheard of'
  /** As a worker. */
  capacity: number
  silenceMs: number
  /** Null: it only claims, and is otherwise unknown. */
  registers: Registration | null
  /** Its heartbeats name the session it works under. */
  namesSession: boolean
  /** What it does with tasks it was assigned. */
  whenAssigned: 'begins' | 'never begins' | 'claims them itself'
}

export function drawAgent(random: Random, i: number): AgentPlan {
  const talkative = random.chance(0.06)
  return {
    name: `a${i + 1}`,
    capabilities: random.chance(0.6) ? [CAPABILITY] : [],
    clockOffsetMs: random.int(-90_000, 90_000),
    clockRate: 1 + random.int(-20, 20) / 1000,
    leaseMs: random.pick([5_000, 15_000, 40_000]),
    heartbeats: talkative || random.chance(0.7),
    zombie: random.chance(0.4),
    talkative,
    confused: random.chance(0.25),
    session: random.weighted({ worker: 4, opened: 1, mentioned: 1, 'unheard of': 2 }),
    capacity: random.pick([1, 1, 2, 3]),
    silenceMs: random.pick([10_000, 20_000, 60_000]),
    registers: random.chance(0.5) ? drawRegistration(random) : null,
    namesSession: random.chance(0.6),
    whenAssigned: random.weighted({ begins: 3, 'never begins': 1, 'claims them itself': 1 }),
  }
}

const drawRegistration = (random: Random): Registration => ({
  maxConcurrentTasks: random.pick([1, 1, 2, 3, null]),
  heartbeatMs: random.pick([4_000, 8_000]),
  staleMs: random.pick([8_000, 15_000, 30_000]),
  coordinatorEnabled: random.chance(0.8),
})
