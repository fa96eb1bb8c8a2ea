import { z } from 'zod'
import { SEVERITIES } from '../../kinds/alert/causes.ts'
import { AlertCauses } from '../../kinds/alert/shapes.ts'
import { missionStates } from '../../kinds/mission/states.ts'
import { Budget } from '../../pure/budget.ts'
import { IsSimulated, Uuid } from '../../pure/shapes.ts'
import { AGENT_STATES, taskStates } from '../../pure/states.ts'
import { InboxItem } from '../inbox/shapes.ts'
import { overviewWindows } from './periods.ts'

/** A workspace at a glance. Long texts are cut. */

const count = z.int()
const dollars = z.string().nullable().describe('Null: unknown')

const RunningNow = z.object({
  runId: Uuid.nullable().describe('Null: an agent holds the task that Baton does not run'),
  agent: z.string(),
  taskId: Uuid.nullable(),
  taskKey: z.string().nullable(),
  taskTitle: z.string().nullable(),
  status: z.string().nullable().describe('The last status message of the run'),
  statusColor: z.string().nullable(),
  step: z.string().nullable(),
  percent: z.number().nullable(),
  since: z.string(),
  attempt: count.nullable(),
  maxAttempts: count.nullable(),
  tokensUsed: count.nullable().describe('Of this run'),
  costUsd: dollars.describe('Of this run; null: unknown'),
  isSimulated: IsSimulated,
  flag: z
    .object({ code: z.string(), detail: z.string(), at: z.string() })
    .nullable()
    .describe('The last sign that it repeats itself, or makes no progress'),
})

export const Overview = z.object({
  window: z.enum(overviewWindows),
  from: z.string().describe('The beginning of the first bucket'),
  to: z.string().describe('Now; the last bucket is not over'),
  bucketMs: count,
  counts: z.record(z.enum(taskStates), count).describe('Work that is not archived, by state'),
  waiting: z.object({
    count: count.describe('Items of the inbox, without missions that have ended'),
    items: z.array(InboxItem).describe('Those three that block most'),
  }),
  running: z.object({
    count,
    items: z.array(RunningNow).describe('At most twenty: those with a flag first, then the oldest'),
  }),
  throughput: z.object({
    perBucket: z
      .array(z.tuple([count.describe('Completed'), count.describe('Failed')]).nullable())
      .describe('Null: more has ended since than was looked through'),
    completed: count,
    failed: count,
  }),
  spend: z.object({
    perBucket: z.array(dollars).describe('By when the runs ended; those that run count as of now'),
    costUsd: dollars,
    perHourUsd: z
      .string()
      .nullable()
      .describe('Since the first run of this period; null: unknown, or less than ten minutes'),
    projectedUsd: z.string().nullable().describe('Of the next period of this length, at this pace'),
    runs: count,
    unknownRuns: count.describe('Runs that have ended whose cost is unknown'),
  }),
  agents: z.object({
    counts: z.record(z.enum(AGENT_STATES), count),
    inError: z
      .array(
        z.object({
          slug: z.string(),
          name: z.string(),
          reason: z.string().nullable(),
          since: z.string(),
        }),
      )
      .describe('At most ten'),
  }),
  alerts: z
    .object({
      counts: z.record(z.enum(SEVERITIES), count),
      items: z
        .array(
          z.object({
            id: Uuid,
            cause: AlertCauses,
            severity: z.enum(SEVERITIES),
            title: z.string(),
            name: z.string().nullable(),
            since: z.string(),
          }),
        )
        .describe('The worst three'),
    })
    .describe('Alerts that nobody looks after'),
  missions: z.object({
    count: count.describe('Missions that have not ended'),
    items: z
      .array(
        z.object({
          id: Uuid,
          title: z.string(),
          state: z.enum(missionStates),
          taskCount: count,
          tasksCompleted: count,
          tasksFailed: count,
          costUsd: dollars,
          runs: z.int(),
          unknownRuns: z.int(),
          budget: Budget.nullable(),
        }),
      )
      .describe('The ten newest'),
  }),
  ended: z
    .object({
      tasks: z.array(
        z.object({
          id: Uuid,
          key: z.string().nullable(),
          title: z.string(),
          state: z.enum(taskStates),
          agent: z.string().nullable().describe('It held the task last'),
          at: z.string(),
          workMs: z
            .int()
            .nullable()
            .describe(
              'Its attempts together, without waiting between them and for people; null: it was never claimed',
            ),
          summary: z.string().nullable().describe('Of its result, or why it failed'),
          costUsd: dollars.describe('Of all its runs; null: unknown, or there was none'),
          isSimulated: IsSimulated,
          runs: z.int(),
        }),
      ),
      missions: z.array(
        z.object({
          id: Uuid,
          title: z.string(),
          state: z.enum(missionStates),
          at: z.string(),
          taskCount: count,
          tasksCompleted: count,
          tasksFailed: count,
          costUsd: dollars,
          isSimulated: IsSimulated,
          runs: z.int(),
          unknownRuns: z.int(),
        }),
      ),
    })
    .describe('The last eight tasks and missions that ended in this period, the newest first'),
  coordinator: z.object({
    node: z.string().nullable().describe('The name of the node that coordinates'),
    isHealthy: z.boolean(),
    nodes: count.describe('Nodes that are alive'),
  }),
  eventsPerSecond: z.number().describe('Over the last minute'),
  seq: z.int().describe('The last event that this answer contains'),
})
