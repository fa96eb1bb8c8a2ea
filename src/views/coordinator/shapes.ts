import { z } from 'zod'
import { Uuid } from '../../pure/shapes.ts'

export const RecoverBody = z.strictObject({
  workspaceId: Uuid.optional().describe(
    'Without it: all workspaces, for a key with the right "instance"; that of the key, for others',
  ),
})

/** What a pass of the coordinator did: a figure for each of its steps (src/upkeep/pass.ts). These are documented. */
export const PassReport = z
  .object({
    agentsJudged: z.int(),
    sessionsJudged: z.int(),
    tasksMoved: z.int(),
    tasksUnblocked: z.int(),
    missionsSettled: z.int(),
    routinesSettled: z.int().describe('Routines whose time had come, or whose last mission had ended'),
    contractorsSettled: z.int().describe('Contractors that ended with their missions, or work again'),
    orphansCancelled: z.int().describe('Verifications and planning that nothing waited for'),
    tasksAssigned: z.int(),
    alertsSettled: z.int().describe('Tasks that nobody takes, marked, or no longer'),
    alertsFollowed: z.int().describe('Events that alerts were raised or resolved for'),
    alertsSwept: z.int().describe('Alerts that were raised or resolved because time passed'),
    reportsWritten: z.int().describe('Ends of tasks and missions that were seen, to report on them'),
    agentsWoken: z.int(),
    countersCorrected: z.int(),
    ledgerCorrected: z.int(),
  })
  .catchall(z.int())
export const RecoverAnswer = z.object({
  did: PassReport,
  allWorkspaces: z.boolean().describe('The steps were run for all workspaces of this server'),
})

export const NodeView = z.object({
  id: z.string(),
  name: z.string(),
  pid: z.int(),
  version: z.string(),
  state: z.enum(['alive', 'silent', 'stopped']),
  leads: z.boolean(),
  term: z.int().nullable().describe('The term that it leads'),
  runs: z.int().describe('How many runs it has now, of all workspaces'),
  mostRuns: z
    .int()
    .nullable()
    .describe('How many runs it executes at once; 0: it executes none; null: it does not say'),
  cpu: z.number().nullable().describe('The share of a core that its process uses'),
  lagMs: z.number().nullable().describe('How late its event loop is'),
  startedAt: z.string(),
  lastSeenAt: z.string(),
  stoppedAt: z.string().nullable(),
})

const TermView = z.object({
  term: z.int(),
  nodeId: z.string(),
  takenAt: z.string(),
  renewedAt: z.string(),
  endedAt: z.string().nullable(),
  endReason: z.string().nullable(),
})

export const CoordinatorStatus = z.object({
  active: z.boolean(),
  instanceId: z.string().nullable().describe('The id of the node that coordinates'),
  term: z.int().nullable(),
  workspaces: z.array(Uuid),
  lastHeartbeat: z.string().nullable(),
  stats: z.object({
    pendingTasks: z.int(),
    waitingTasks: z.int(),
    blockedTasks: z.int(),
    runningTasks: z.int(),
    healthyAgents: z.int(),
    staleAgents: z.int(),
  }),
  thisNode: z.object({
    id: z.string(),
    leads: z.boolean(),
    passes: z.int(),
    lastPassAt: z.string().nullable(),
    lastPassMs: z.number().nullable(),
  }),
  nodes: z.array(NodeView),
  terms: z.array(TermView),
})

export const CoordinatorHealth = z.object({
  status: z.enum(['healthy', 'degraded']),
  coordinator: z.object({
    active: z.boolean(),
    lastCycle: z.string().nullable(),
    cycleCount: z.int(),
    leads: z.boolean(),
    nodes: z.int(),
  }),
  database: z.literal('connected'),
  valkey: z.literal('not used'),
  gateway: z.enum(['reachable', 'unreachable']).describe('Whether a live node executes runs of agents'),
})

export const HealthAnswer = z.object({ status: z.literal('ok') })
