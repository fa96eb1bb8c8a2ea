import { z } from 'zod'
import { FAILURE_EVENTS } from '../../kinds/task/rules/outcomes.ts'
import { Uuid } from '../../pure/shapes.ts'
import { taskStates } from '../../pure/states.ts'
import { SEGMENT_KINDS } from '../timeline/segments.ts'

/** What people ask of a whole workspace. */

const seq = z.int().describe('The last event that this answer contains')

export const SearchAnswer = z.object({
  items: z.array(
    z.object({
      kind: z.enum(['task', 'mission', 'agent', 'run']),
      id: z.string().describe('For an agent, its slug'),
      key: z.string().nullable().describe('Of the task, or of the task of the run'),
      title: z.string().describe('Of a run: the title of its task; without one, its agent'),
      state: z.string(),
      updatedAt: z.string(),
      path: z.string().describe('Where it is read, below /api/v1'),
      number: z.int().nullable().describe('Of a task: the number that people call it by'),
      mission: z.string().nullable().describe('Of a task: the title of its mission'),
      error: z
        .string()
        .nullable()
        .describe('The part of its error that has the text; null: it was found by something else'),
    }),
  ),
  isBounded: z
    .boolean()
    .describe(
      'Titles and errors are looked for in 5,000 open tasks and the newest 3,000 finished ones, titles in the newest 5,000 missions; true: there are more',
    ),
  seq,
})

const attempt = z
  .int()
  .describe('The generation of the claim that it belongs to, or follows; 0: before the first one')
const kind = z
  .enum(SEGMENT_KINDS)
  .describe('"waiting": for tasks or for its time; "person": for a person; "retry": for another attempt')

export const MissionTimeline = z.object({
  segments: z
    .array(
      z.object({
        task: Uuid,
        attempt,
        kind,
        from: z.string(),
        to: z.string().nullable().describe('Null: it lasts'),
        startedAt: z
          .string()
          .nullable()
          .describe('When the holder of the work began; null: not yet, or no work'),
        runId: Uuid.nullable().describe('The last run of the work, or of the verification'),
      }),
    )
    .describe('In the order in which the tasks were made, then of time'),
  seq,
})

/** The same segments as lists, each in the same order. */
export const TimelineColumns = z.object({
  tasks: z.array(Uuid),
  segments: z.object({
    task: z.array(z.int()).describe('Places among the tasks'),
    attempt: z.array(attempt),
    kind: z.array(kind),
    from: z.array(z.int()).describe('Milliseconds since 1970'),
    to: z.array(z.int().nullable()),
    startedAt: z.array(z.int().nullable()),
    runId: z.array(Uuid.nullable()),
  }),
  seq,
})

const period = { from: z.string(), to: z.string() }
const isBounded = z
  .boolean()
  .describe('There is more in this period than the newest that were looked through')
const taskNames = {
  taskId: Uuid,
  key: z.string().nullable(),
  title: z.string(),
  taskType: z.string(),
  agent: z.string().nullable().describe('It held the task last'),
  missionId: Uuid.nullable(),
}
const page = { nextCursor: z.string().nullable(), ...period, seq }

export const Failures = z.object({
  items: z
    .array(
      z.object({
        seq: z.int().describe('The event'),
        at: z.string(),
        type: z.enum(FAILURE_EVENTS),
        ...taskNames,
        agent: z.string().nullable().describe('It held the task then'),
        generation: z.int().nullable(),
        failureClass: z.string().nullable(),
        cause: z.string().describe('Why it failed, in one word, as in /insight/causes'),
        message: z.string(),
      }),
    )
    .describe('Newest first. A page may be short, or empty, before the last one'),
  ...page,
})

export const Causes = z.object({
  items: z
    .array(
      z.object({
        cause: z
          .string()
          .describe(
            'The error code of the run ("nonzero_exit"), what became of the holder ("lease_expired"), "verification", "rejected" (by a person), "budget", else the failure class',
          ),
        failures: z.int(),
        tasks: z.int(),
        completed: z.int().describe('Tasks that are completed by now'),
        lastAt: z.string(),
      }),
    )
    .describe('The most frequent first'),
  ...page,
  isBounded,
})

const Times = z
  .object({ average: z.number(), median: z.number(), p95: z.number(), longest: z.number() })
  .nullable()
const count = z.int()

export const Durations = z.object({
  items: z
    .array(
      z.object({
        name: z.string().describe('Of the group: a type of task, an agent, the id of a mission or a state'),
        tasks: count,
        completed: count,
        failed: count,
        retried: count,
        completedAfterRetry: count,
        waitMs: Times.describe('From its creation to its last claim; null: none was claimed'),
        workMs: Times.describe('From its last claim to its end'),
      }),
    )
    .describe('By name'),
  ...page,
  isBounded,
})

export const Retries = z.object({
  items: z
    .array(z.object({ ...taskNames, state: z.enum(taskStates), attempts: count }))
    .describe('Tasks that were tried more than once; those with the most attempts first'),
  ...page,
  tasks: count.describe('That ended in this period'),
  retried: count,
  completedAfterRetry: count,
  isBounded,
})

export const Slowest = z.object({
  items: z
    .array(
      z.object({
        ...taskNames,
        state: z.enum(taskStates),
        attempts: count,
        workMs: z.int().describe('From its last claim to its end'),
        waitMs: z.int().describe('From its creation to its last claim'),
      }),
    )
    .describe('Tasks whose last claim took longest first'),
  ...page,
  isBounded,
})

export const Bottlenecks = z.object({
  items: z
    .array(
      z.object({
        ...taskNames,
        state: z.enum(taskStates),
        attempts: count,
        delayMs: z.int().describe('From when it could begin to its end'),
        blocks: count.describe('How many tasks depend on it, up to 1000'),
      }),
    )
    .describe('Tasks that others depend on; those that took longest first'),
  ...page,
  isBounded,
})

/** What is read of a whole workspace at once. Each part is as of an event of its own. */
export const Insight = z.object({
  causes: Causes,
  slowest: Slowest,
  bottlenecks: Bottlenecks,
  seq: z.int().describe('The last event that all parts contain'),
})

const dollars = z.string().nullable().describe('Null: unknown')
export const Telemetry = z.object({
  ...period,
  agents: z.array(
    z.object({
      agent: z.string(),
      taskType: z.string(),
      tasks: count,
      completed: count,
      failed: count,
      successRate: z.number(),
      attempts: z.number().describe('On average'),
    }),
  ),
  models: z.array(
    z.object({
      model: z.string().nullable(),
      runs: count,
      succeeded: count,
      tokensUsed: z.int().nullable(),
      costUsd: dollars,
    }),
  ),
  retries: z
    .array(
      z.object({
        failureClass: z.string().nullable(),
        retries: count,
        tasks: count,
        completed: count.describe('Tasks that are completed by now'),
        successRate: z.number(),
      }),
    )
    .describe('By the failure class of the previous attempt'),
  crashes: z
    .array(
      z.object({
        agent: z.string().nullable().describe('It held the task'),
        errorType: z
          .string()
          .describe('What became of its holder ("lease_expired"), or why its run failed ("nonzero_exit")'),
        crashes: count,
        tasks: count,
        completed: count.describe('Tasks that are completed by now'),
        successRate: z.number(),
        averageMs: z.int().nullable().describe('From the claim to the crash; null: unknown'),
      }),
    )
    .describe('Attempts that were lost, timed out or failed for want of anything but good work'),
  failedVerifications: z
    .array(
      z.object({
        agent: z.string().nullable().describe('It made the result'),
        verifier: z.string().nullable().describe('Null: somebody outside gave the verdict'),
        failed: count,
        tasks: count,
        completed: count.describe('Tasks that are completed by now'),
        successRate: z.number(),
      }),
    )
    .describe('Results that did not pass'),
  verdicts: z
    .object({
      passed: count,
      passedOverruled: count.describe('A person reset the task'),
      failed: count,
      failedOverruled: count.describe('A person promoted a result, or gave one'),
      unsure: count.describe('The verifier left it to a person'),
      unsureApproved: count,
      unsureRejected: count,
    })
    .describe('Verifiers against people'),
  estimates: z
    .object({
      missions: count.describe('Missions with a plan that ended in this period'),
      estimate: z.object({ estimatedTokens: z.int().nullable(), costUsd: dollars }),
      tokensUsed: z.int().nullable(),
      costUsd: dollars,
    })
    .describe('Of the approved plans, against what the missions used'),
  isBounded,
  seq,
})
