import { z } from 'zod'
import { listOf, Name, ShortText, Uuid } from '../../../pure/shapes.ts'
import { HolderRequestView, MessageView } from '../../task/shapes/claims.ts'
import { COST_BASES } from '../../usage/record.ts'
import { TRIGGER_DETAILS, WAKEUP_SOURCES } from '../rules/wakeups.ts'
import { RUN_STATES, WAKEUP_STATES } from '../states.ts'
import { RunFolder } from './folder.ts'
import { Tokens } from './tokens.ts'

export const WakeupBody = z.strictObject({
  source: z.enum(WAKEUP_SOURCES).default('on_demand'),
  triggerDetail: z.enum(TRIGGER_DETAILS).optional(),
  reason: ShortText.optional().describe('Why; prompts can show it to the agent'),
  payload: z.unknown().optional().describe('More information for the agent'),
  taskId: Uuid.optional().describe('The task to work on; without it, a waiting task, or no task'),
  idempotencyKey: Name.optional().describe('A repeated request with the same key gets the first wakeup'),
})

export const CancelBody = z.strictObject({ reason: ShortText.default('cancelled by a person') })
export const ResetSessionBody = z.strictObject({
  taskKey: z.string().max(300).optional().describe('Only this task (its id); "" means runs without a task'),
})

export const RunParams = z.object({ id: Uuid })

export const WakeupView = z.object({
  id: Uuid,
  agent: z.string(),
  source: z.enum(WAKEUP_SOURCES),
  triggerDetail: z.enum(TRIGGER_DETAILS).nullable(),
  reason: z.string().nullable(),
  payload: z.unknown(),
  status: z.enum(WAKEUP_STATES),
  skipReason: z.string().nullable(),
  detail: z.string().nullable().describe('Why the agent was not woken, in a sentence'),
  coalescedCount: z.int(),
  coalescedInto: Uuid.nullable(),
  requestedBy: z.string(),
  requestedByName: z.string().nullable().describe('The name of the key that requested it'),
  taskId: Uuid.nullable(),
  generation: z.int().nullable(),
  depth: z.int().describe('The length of the chain of runs that led to it'),
  runId: Uuid.nullable(),
  requestedAt: z.string(),
  dueAt: z.string(),
  claimedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  error: z.string().nullable(),
})

/** A wakeup in a list. */
export const ListedWakeup = WakeupView.extend({
  payload: z.unknown().optional().describe('With include=payload'),
})

export const RunView = z.object({
  id: Uuid,
  agent: z.string(),
  agentId: Uuid,
  adapterType: z.string(),
  wakeupId: Uuid.nullable(),
  source: z.string(),
  triggerDetail: z.string().nullable(),
  reason: z.string().nullable(),
  status: z.enum(RUN_STATES),
  statusMessage: z.string().nullable(),
  statusColor: z.string().nullable(),
  taskId: Uuid.nullable(),
  taskKey: z.string().nullable(),
  taskTitle: z.string().nullable(),
  missionId: Uuid.nullable(),
  generation: z.int().nullable(),
  attempt: z.int().nullable(),
  errorCode: z.string().nullable(),
  errorMessage: z.string().nullable(),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  tokens: Tokens.extend({
    cachedOutput: z.int().optional().describe('Where the adapter reports it'),
  })
    .nullable()
    .describe('Null: unknown'),
  usageBasis: z
    .string()
    .nullable()
    .describe(
      'Where tokens come from: reported, delta (of a counter over a session) or partial (of a run that was lost)',
    ),
  costUsd: z.string().nullable(),
  costBasis: z
    .enum(COST_BASES)
    .nullable()
    .describe(
      'Where the cost comes from: the program told it, or its tokens were priced; notional: not paid by use, as with a subscription',
    ),
  provider: z.string().nullable(),
  model: z.string().nullable(),
  sessionIdBefore: z.string().nullable(),
  sessionIdAfter: z.string().nullable(),
  summary: z.string().nullable(),
  result: z.unknown(),
  folder: RunFolder.nullable(),
  stdoutExcerpt: z.string().nullable(),
  stderrExcerpt: z.string().nullable(),
  log: z
    .object({
      store: z.string(),
      bytes: z.number().nullable(),
      sha256: z.string().nullable(),
      compressed: z.boolean(),
      truncated: z.boolean(),
      status: z.enum(['writing', 'available', 'log_unavailable']),
    })
    .nullable(),
  nodeId: z.string(),
  pid: z.int().nullable(),
  createdAt: z.string(),
  startedAt: z.string().nullable(),
  finishedAt: z.string().nullable(),
  durationMs: z.number().nullable(),
})

/** A run in a list. */
export const ListedRun = RunView.extend({ result: z.unknown().optional().describe('With include=result') })

/** The runs of a task, and what they used together. */
export const TaskRuns = listOf(ListedRun).extend({
  total: z.object({
    runs: z.int(),
    tokens: Tokens.nullable().describe('Null: unknown of all of them'),
    costUsd: z.string().nullable(),
    notionalUsd: z.string().nullable().describe('What is not paid by use, as with a subscription'),
  }),
})

export const WakeupAnswer = z.object({ wakeup: WakeupView })

export const RunEventView = z.object({
  seq: z.int(),
  type: z.enum(['lifecycle', 'status', 'usage', 'error', 'structured']),
  stream: z.string().nullable(),
  level: z.string().nullable(),
  color: z.string().nullable(),
  message: z.string().nullable(),
  payload: z.unknown(),
  at: z.string(),
})

export const LogView = z.object({
  runId: Uuid,
  store: z.string().nullable(),
  status: z.enum(['writing', 'available', 'log_unavailable']),
  offset: z.number(),
  content: z.string(),
  nextOffset: z.number().nullable(),
  spans: z.array(z.object({ offset: z.number(), bytes: z.number(), stream: z.string(), ts: z.string() })),
  bytes: z.number().nullable(),
  sha256: z.string().nullable(),
  truncated: z.boolean(),
  detail: z.string().optional(),
})

export const RuntimeStateView = z.object({
  agent: z.string(),
  adapterType: z.string(),
  sessionId: z.string().nullable(),
  state: z.unknown(),
  lastRunId: Uuid.nullable(),
  lastRunStatus: z.string().nullable(),
  lastError: z.string().nullable(),
  runs: z.number(),
  tokens: Tokens.describe('Of all its runs'),
  costUsd: z.string().describe('Of the runs whose cost is known; unknownRuns says of how many it is not'),
  unknownRuns: z.int().describe('Runs whose cost is unknown'),
  lastStartedAt: z.string().nullable(),
  nextTimerAt: z.string().nullable(),
  parkedUntil: z.string().nullable(),
  updatedAt: z.string().nullable(),
})

export const TaskSessionView = z.object({
  agent: z.string(),
  adapterType: z.string(),
  taskKey: z.string().describe('The id of the task; "" for runs without one'),
  sessionParams: z.record(z.string(), z.unknown()),
  sessionDisplayId: z.string().nullable(),
  lastRunId: Uuid.nullable(),
  lastError: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
})
export const ResetSessionAnswer = z.object({ agent: z.string(), cleared: z.int() })

export const ProbeView = z.object({
  agent: z.string(),
  ok: z.boolean(),
  checks: z.array(
    z.object({
      name: z.string(),
      ok: z.boolean(),
      detail: z.string(),
      hint: z.string().optional(),
      isUnknown: z.boolean().optional().describe('It could not be determined'),
      problems: z
        .array(z.object({ field: z.string(), message: z.string() }))
        .optional()
        .describe('Of a check that failed: what is wrong with which field of the agent'),
    }),
  ),
})

export const RunsAs = z
  .enum(['baton', 'root'])
  .nullable()
  .describe(
    'As whom programs of agents run on this node: as the user of Baton, whose keys they can read, or as root; null: none run, or the key may not configure agents',
  )

export const AdapterView = z.object({
  type: z.string(),
  capabilities: z.record(z.string(), z.boolean()),
  configSchema: z.record(z.string(), z.unknown()).optional().describe('JSON Schema of adapterConfig'),
  allowed: z.boolean().describe('Whether agents of this workspace may have this type on this node'),
  runsAs: RunsAs,
})

/** A heartbeat is answered with requests, a result or a failure with how the run ended. */
export const CallbackAnswer = z.union([
  z.object({ taken: z.literal(true), requests: z.array(HolderRequestView), messages: z.array(MessageView) }),
  z.object({ taken: z.literal(true), status: z.enum(RUN_STATES) }),
])
