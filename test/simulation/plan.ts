import { DEFAULT_LIMITS, type Limits } from '../../src/kinds/workspace/limits.ts'
import { type AgentPlan, drawAgent } from './plan-agents.ts'
import { CAPABILITY, drawRequests, type ProjectPlan, type TaskPlan } from './plan-tasks.ts'
import type { Random } from './random.ts'

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

export interface CoordinatorPlan {
  /** Continues under a term that may be over, until it learns of another one. */
  stubborn: boolean
  /** Mean time between two passes. */
  passMs: number
}

export interface Plan {
  limits: Limits
  agents: AgentPlan[]
  projects: ProjectPlan[]
  /** Each list is one request; its tasks may depend on each other and be parts of each other. */
  requests: TaskPlan[][]
  nodes: number
  /** Nodes that want to coordinate, where there are agents. */
  coordinators: CoordinatorPlan[]
  /** How long a coordinator's leader lease lasts without a renewal. */
  leaderLeaseMs: number
  /** The nodes use the real combiner rather than one that batches at random. */
  combiner: boolean
  /** How long a node may wait for more requests. */
  batchMs: number
  faults: Faults
  /** Mean time between two actions of the operator. */
  operatorMs: number
  /** How long things may go wrong before the world calms down. */
  stormMs: number
}

/** A small world, different in size, limits and kinds of faults for each seed: rare combinations come up this way. */
export function drawPlan(random: Random): Plan {
  const agents = Array.from({ length: random.int(2, 5) }, (_, i) => drawAgent(random, i))
  // At least one agent can do anything, or a task might wait forever for a good reason.
  agents[0] = { ...agents[0]!, capabilities: [CAPABILITY] }
  const projects = Array.from(
    { length: random.pick([0, 1, 1, 2]) },
    (): ProjectPlan => ({
      maxAgentsOnTrackA: random.pick([1, 1, 2, null, undefined]),
    }),
  )
  return {
    limits: drawLimits(random),
    agents,
    projects,
    requests: drawRequests(random, projects.length),
    nodes: random.int(1, 2),
    coordinators: Array.from({ length: random.pick([1, 2, 2]) }, () => drawCoordinator(random)),
    leaderLeaseMs: random.pick([4_000, 10_000, 30_000]),
    combiner: random.chance(0.3),
    batchMs: random.pick([0, 200, 3_000]),
    faults: drawFaults(random),
    operatorMs: random.pick([2_000, 5_000, 20_000]),
    stormMs: random.int(50_000, 200_000),
  }
}

const drawCoordinator = (random: Random): CoordinatorPlan => ({
  stubborn: random.chance(0.3),
  passMs: random.pick([3_000, 8_000, 15_000]),
})

function drawLimits(random: Random): Limits {
  return {
    ...DEFAULT_LIMITS,
    maxConcurrentClaims: random.pick([1, 2, 100, 100]),
    maxGenerationsPerTask: random.pick([2, 5, 100, 100, 100]),
    maxActiveSessions: random.pick([1, 3, 50, 50]),
    // Two large results of parts are more than this together.
    maxResultBytes: random.pick([1_024, 1_024, 100_000]),
    lateResults: random.chance(0.7),
    // Short enough to matter to work that takes seconds.
    assignTimeoutSeconds: random.pick([5, 20, 120]),
    stallTimeoutSeconds: random.pick([null, null, null, null, 4, 12]),
    hangGraceSeconds: random.pick([0, 3, 15]),
    hangAbortSeconds: random.pick([2, 5, 20]),
    queueOrder: random.pick(['priority', 'priority', 'shortest_first']),
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
