import { z } from 'zod'
import { Instant, Name, ShortText, Slug, Tag, Uuid } from '../../pure/shapes.ts'
import { AGENT_STATES, taskStates } from '../../pure/states.ts'
import { Tokens } from '../run/shapes/tokens.ts'
import { RUN_STATES } from '../run/states.ts'
import { RenewedClaim } from '../task/shapes/claims.ts'
import { TaskView } from '../task/shapes/tasks.ts'
import { AGENT_KINDS } from './record.ts'

const DAY_SECONDS = 86_400
const SettingsObject = z.record(z.string(), z.unknown())

export const AgentParams = z.object({ id: Slug })

/** A field that is left out keeps its value, or gets its default when the agent is new. */
export const AgentBody = z.strictObject({
  name: Name.optional(),
  model: Name.nullable().optional(),
  adapterType: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,49}$/)
    .optional()
    .describe('"external" agents claim their work themselves; Baton runs the others'),
  adapterConfig: SettingsObject.nullable().optional(),
  runtimeConfig: SettingsObject.nullable().optional(),
  capabilities: z.array(Tag).max(50).optional(),
  taskTypes: z
    .array(Tag)
    .max(50)
    .optional()
    .describe(
      'The types of work it takes from the queue; none: any. What is reserved for it may be of any type',
    ),
  maxConcurrentTasks: z
    .int()
    .min(1)
    .max(100_000)
    .nullable()
    .optional()
    .describe('How many tasks it may hold at once (1); null: any number'),
  heartbeatIntervalSeconds: z.int().min(1).max(DAY_SECONDS).optional(),
  staleThresholdSeconds: z
    .int()
    .min(1)
    .max(7 * DAY_SECONDS)
    .optional()
    .describe('The longest silence (180); after that it loses the tasks it holds'),
  coordinatorEnabled: z
    .boolean()
    .optional()
    .describe(
      'The coordinator assigns work to it while it heartbeats, and revokes it when the agent goes silent (true)',
    ),
  batchSize: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('How many tasks of one kind can be assigned to it at a time (1)'),
})

export const HeartbeatBody = z.strictObject({
  status: z.enum(['healthy', 'degraded']).default('healthy'),
  session: Name.optional().describe('The session it works under; only claims of this session are renewed'),
  currentTaskId: Uuid.optional(),
  progressPercent: z.number().min(0).max(100).optional(),
  currentStep: ShortText.optional(),
  memoryMb: z.number().min(0).max(1e9).optional(),
  cpuPercent: z.number().min(0).max(1e6).optional(),
  sentAt: Instant.optional().describe(
    'By the clock of the sender; a heartbeat older than the last one is refused',
  ),
  metadata: z.record(Tag, z.unknown()).optional(),
})

export const PauseBody = z.strictObject({
  reason: ShortText.optional(),
  graceful: z
    .boolean()
    .default(true)
    .describe(
      'It may finish what it holds; otherwise its runs are stopped and its tasks return to the queue',
    ),
})
export const TerminateBody = z.strictObject({
  reason: ShortText.default('terminated by a person'),
  graceful: z
    .boolean()
    .default(true)
    .describe(
      'It may finish what it holds; otherwise its runs are stopped and its tasks return to the queue',
    ),
})

export const AgentView = z.object({
  id: Uuid,
  slug: z.string(),
  name: z.string(),
  model: z.string().nullable(),
  adapterType: z.string(),
  adapterConfig: SettingsObject.nullable().describe('Null when the key may not configure agents'),
  adapterConfigHidden: z.boolean().describe('There are settings, and this key may not see them'),
  runtimeConfig: SettingsObject.nullable(),
  capabilities: z.array(z.string()),
  taskTypes: z.array(z.string()),
  maxConcurrentTasks: z.int().nullable(),
  heartbeatIntervalSeconds: z.number(),
  staleThresholdSeconds: z.number(),
  coordinatorEnabled: z.boolean(),
  batchSize: z.int(),
  kind: z.enum(AGENT_KINDS).describe('A contractor is made for a mission'),
  missionId: Uuid.nullable().describe('The mission of a contractor'),
  template: z.string().nullable().describe('The agent that a contractor was made from'),
  state: z.enum(AGENT_STATES),
  status: z.enum(AGENT_STATES).describe('The same as state'),
  stateReason: z.string().nullable(),
  leaving: z.boolean().describe('It finishes the tasks it holds and is then terminated'),
  lastTest: z
    .object({
      at: z.string(),
      ok: z.boolean(),
      failed: z.array(z.string()).describe('The checks that failed'),
    })
    .nullable()
    .describe('The last test of its present settings (POST /agents/:slug/test); null: they were not tested'),
  activeTasks: z.int(),
  activeRuns: z.int(),
  lastSeenAt: z.string().nullable(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

/** An agent, and what it does. */
export const AgentAtWork = AgentView.extend({
  holds: z
    .array(
      z.object({
        taskId: Uuid,
        key: z.string().nullable(),
        title: z.string(),
        state: z.enum(taskStates),
        percent: z.number().nullable(),
      }),
    )
    .describe('The tasks that it holds, longest first; at most 20'),
  lastRun: z.object({ id: Uuid, status: z.enum(RUN_STATES), finishedAt: z.string().nullable() }).nullable(),
  today: z
    .object({
      runs: z.int(),
      succeeded: z.int(),
      failed: z.int().describe('Also those that timed out'),
      costUsd: z.string().nullable().describe('Null: unknown'),
    })
    .describe('Runs since midnight, UTC'),
  totals: z
    .object({
      runs: z.int(),
      unknownRuns: z.int().describe('Runs whose cost is unknown'),
      costUsd: z.string().describe('Of the runs whose cost is known'),
      tokens: Tokens,
      lastError: z.string().nullable().describe('Why its last run failed; null: it did not'),
    })
    .describe('All its runs'),
  rests: z
    .object({
      until: z.string(),
      others: z.int().describe('How many other agents are on this account, and rest with it'),
    })
    .nullable()
    .describe('Its account is rate limited, and it is not started before that time'),
  nextWakeAt: z
    .string()
    .nullable()
    .describe('When its timer wakes it next; null: it has none, or it is paused, terminated or leaving'),
})

export const HealthView = z.object({
  agent: z.string(),
  state: z.enum(AGENT_STATES),
  status: z.enum(['healthy', 'degraded', 'stale', 'unknown']),
  lastSeenAt: z.string().nullable(),
  nextExpectedAt: z.string().nullable(),
  staleAt: z.string().nullable(),
  silentForMs: z.number().nullable(),
  session: z.string().nullable(),
  currentTaskId: Uuid.nullable(),
  progressPercent: z.number().nullable(),
  currentStep: z.string().nullable(),
  memoryMb: z.number().nullable(),
  cpuPercent: z.number().nullable(),
  metadata: z.unknown(),
  activeTasks: z.int(),
})

/** A claim of an agent; `state` is the state of the task. */
const HeldClaim = z.object({
  taskId: Uuid,
  generation: z.int(),
  session: z.string(),
  state: z.enum(taskStates),
  attempt: z.int(),
  leaseExpiresAt: z.string(),
})

export const HeartbeatAnswer = z.object({
  agent: z.string(),
  state: z.enum(AGENT_STATES),
  leaving: z.boolean(),
  lastSeenAt: z.string(),
  nextExpectedAt: z.string(),
  claims: z.array(HeldClaim).describe('All claims it holds'),
  renewed: z.array(RenewedClaim).describe('The leases that this heartbeat renewed'),
})

export const AssignmentsAnswer = z.object({
  claims: z.array(HeldClaim.extend({ agent: z.string(), task: TaskView })),
})
