import type { NewTask } from '../../src/core/commands.ts'
import { TRIGGER_RULES } from '../../src/core/commands.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/core/limits.ts'
import type { Random } from './random.ts'
import { START } from './scheduler.ts'

/** How often each thing goes wrong; all zero when the world is calm. */
export interface Faults {
  lostRequest: number
  lostReply: number
  duplicate: number
  slow: number
  /** Slower than any lease. */
  verySlow: number
  /** A transaction that waits at a lock or a commit. */
  stall: number
  /** At each wait of a client. */
  agentCrash: number
  agentPause: number
  /** At each wait of a transaction. */
  nodeCrash: number
}

export interface AgentPlan {
  name: string
  capabilities: readonly string[]
  /** Its wall clock is wrong by this much, */
  clockOffsetMs: number
  /** and runs at this speed. */
  clockRate: number
  leaseMs: number
  /** Renews its leases beside its work. */
  beats: boolean
  /** Goes on with work it may have lost, and says so to nobody. */
  zombie: boolean
  /** Wants more turns all the time. */
  talkative: boolean
  /** Sometimes names a generation or session that is not its own. */
  confused: boolean
}

type TaskPlan = Omit<NewTask, 'dependsOn' | 'details'> & {
  /** Places in the list of tasks, all before its own. */
  waitsFor: readonly number[]
}

export interface Plan {
  limits: Limits
  agents: AgentPlan[]
  tasks: TaskPlan[]
  nodes: number
  /** The nodes use the real combiner rather than one that batches at random. */
  combiner: boolean
  /** How long a node may wait for company. */
  gatherMs: number
  faults: Faults
  /** Mean time between two acts of the operator. */
  operatorMs: number
  /** How long things may go wrong before the world calms down. */
  stormMs: number
}

const CAPABILITY = 'typescript'

/** A small world, different in size, limits and kinds of trouble for each seed: rare combinations come up this way. */
export function drawPlan(random: Random): Plan {
  const agents = Array.from({ length: random.int(2, 5) }, (_, i) => drawAgent(random, i))
  // At least one agent can do anything, or a task might wait for ever for a good reason.
  agents[0] = { ...agents[0]!, capabilities: [CAPABILITY] }
  const count = random.pick([1, 2, 3, 3, 4, 4])
  return {
    limits: drawLimits(random),
    agents,
    tasks: Array.from({ length: count }, (_, i) => drawTask(random, i)),
    nodes: random.int(1, 2),
    combiner: random.chance(0.3),
    gatherMs: random.pick([0, 200, 3_000]),
    faults: drawFaults(random),
    operatorMs: random.pick([2_000, 5_000, 20_000]),
    stormMs: random.int(60_000, 240_000),
  }
}

function drawLimits(random: Random): Limits {
  return {
    ...DEFAULT_LIMITS,
    maxConcurrentClaims: random.pick([1, 2, 100]),
    maxGenerationsPerTask: random.pick([2, 5, 100, 100, 100]),
    lateResults: random.chance(0.7),
  }
}

function drawAgent(random: Random, i: number): AgentPlan {
  const talkative = random.chance(0.06)
  return {
    name: `a${i + 1}`,
    capabilities: random.chance(0.6) ? [CAPABILITY] : [],
    clockOffsetMs: random.int(-90_000, 90_000),
    clockRate: 1 + random.int(-20, 20) / 1000,
    leaseMs: random.pick([5_000, 15_000, 40_000]),
    beats: talkative || random.chance(0.7),
    zombie: random.chance(0.4),
    talkative,
    confused: random.chance(0.25),
  }
}

function drawTask(random: Random, i: number): TaskPlan {
  const waitsFor = i > 0 && random.chance(0.35) ? [random.int(0, i - 1)] : []
  if (i > 1 && waitsFor[0] !== 0 && waitsFor.length > 0 && random.chance(0.3)) waitsFor.push(0)
  return {
    key: random.chance(0.3) ? `B-00${i + 1}-sim` : null,
    priority: random.int(1, 10),
    maxRetries: random.int(0, 3),
    onlyAgent: random.chance(0.1) ? 'a1' : null,
    capabilities: random.chance(0.25) ? [CAPABILITY] : null,
    review: random.pick(['none', 'none', 'human', 'verifier', 'verifier']),
    runAt: random.chance(0.15) ? START + random.int(1_000, 60_000) : null,
    triggerRule: random.pick(TRIGGER_RULES),
    waitsFor,
  }
}

function drawFaults(random: Random): Faults {
  // Each kind is missing from some worlds: a fault that is always there can hide what happens without it.
  const sometimes = (rates: number[]) => (random.chance(0.25) ? 0 : random.pick(rates))
  return {
    lostRequest: sometimes([0.02, 0.1]),
    lostReply: sometimes([0.05, 0.15, 0.3]),
    duplicate: sometimes([0.05, 0.15]),
    slow: sometimes([0.05, 0.2]),
    verySlow: sometimes([0.01, 0.05]),
    stall: sometimes([0.02, 0.1]),
    agentCrash: sometimes([0.005, 0.03]),
    agentPause: sometimes([0.01, 0.04]),
    nodeCrash: sometimes([0.01, 0.04]),
  }
}

export const CALM: Faults = {
  lostRequest: 0,
  lostReply: 0,
  duplicate: 0,
  slow: 0,
  verySlow: 0,
  stall: 0,
  agentCrash: 0,
  agentPause: 0,
  nodeCrash: 0,
}
