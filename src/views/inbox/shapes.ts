import { z } from 'zod'
import { AgentView } from '../../kinds/agent/shapes.ts'
import { SEVERITIES } from '../../kinds/alert/causes.ts'
import { AlertCauses } from '../../kinds/alert/shapes.ts'
import { BudgetView } from '../../kinds/budget/shapes.ts'
import { MissionView, PlanVersionView } from '../../kinds/mission/shapes/missions.ts'
import { MISSION_ENDS } from '../../kinds/mission/states.ts'
import { INBOX_KINDS } from '../../kinds/task/rules/waiting.ts'
import { Answer, Digest } from '../../kinds/task/shapes/people.ts'
import { ResultView } from '../../kinds/task/shapes/results.ts'
import { TaskView } from '../../kinds/task/shapes/tasks.ts'
import { Budget, Dollars } from '../../pure/budget.ts'
import { Fresh, Generation, IsSimulated, listOf, ShortText, Slug, Uuid } from '../../pure/shapes.ts'

/** What waits for a person. */

const DECISIONS = [
  'approve',
  'reject',
  'replan',
  'fail',
  'verify',
  'answer',
  'retry',
  'resume',
  'raise',
  'move',
  'allow',
  'release',
  'archive',
  'pause',
  'terminate',
  'skip',
  'cancel',
  'seen',
  'acknowledge',
] as const
export type Decision = (typeof DECISIONS)[number]

const About = z.object({
  taskId: Uuid.nullable(),
  missionId: Uuid.nullable(),
  runId: Uuid.nullable().describe('The last run of the task'),
  agent: z.string().nullable().describe('The agent, or the one that held the task last'),
  budgetId: Uuid.nullable().describe('The budget of a workspace, a project or an agent'),
})

export const InboxItem = z.object({
  id: z.string(),
  kind: z.enum(INBOX_KINDS),
  title: z.string(),
  about: About,
  reason: z.string().nullable(),
  blocks: z
    .int()
    .describe(
      'How many tasks wait for it, up to 1000: those that directly depend on the task, those of the mission, those for the agent',
    ),
  since: z.string(),
  askedBy: z.string().nullable().describe('The agent that asks, or whose result waits'),
  waitsFor: z
    .string()
    .nullable()
    .describe('The agent that should judge the result, or that the task is reserved for'),
  preview: z.string().nullable().describe('The beginning of the question, or of the summary of the result'),
  expiresAt: z.string().nullable().describe('When time decides instead; null: it waits without a limit'),
  generation: z
    .int()
    .nullable()
    .describe('Of the task; of a plan its version; of a mission or an agent its version'),
  digest: z.string().nullable().describe('Of the result, or of the plan'),
  end: z.enum(MISSION_ENDS).nullable().describe('Of a mission that has ended: how'),
  alert: z
    .object({
      id: Uuid,
      cause: AlertCauses,
      severity: z.enum(SEVERITIES),
      count: z.int(),
      words: z.string(),
      todo: z.string().describe('What a person can do'),
    })
    .nullable()
    .describe('The alert, where the item is about nothing else'),
  actions: z.array(z.enum(DECISIONS)),
})

export const InboxList = listOf(InboxItem).extend({
  counts: z.record(z.enum(INBOX_KINDS), z.int()).describe('Of all items, whatever kinds are listed'),
  seq: z.int().describe('The last event that this answer contains'),
})

export const InboxDetail = InboxItem.extend({
  task: TaskView.nullable(),
  summary: z.string().nullable().describe('Of the result that waits'),
  workProductRef: z.string().nullable(),
  results: z.array(ResultView.omit({ result: true })).describe('All results of the task, and their verdicts'),
  mission: MissionView.nullable(),
  plan: PlanVersionView.nullable().describe('Without the plan itself'),
  budget: Budget.nullable().describe('Of the task or the mission'),
  spent: z
    .object({ costUsd: z.string().nullable(), tokensUsed: z.int(), isSimulated: IsSimulated })
    .nullable()
    .describe('By its runs, where the item is about a budget or a mission'),
  limit: BudgetView.nullable().describe('The budget that the item is about, whole'),
  agent: AgentView.nullable(),
  needs: z
    .object({ agent: z.string().nullable(), capabilities: z.array(z.string()) })
    .nullable()
    .describe('What a task that nobody can take needs'),
})

export const InboxAnswer = z.strictObject({
  decision: z.enum(DECISIONS).describe('One of the actions of the item'),
  comment: ShortText.optional(),
  answer: Answer.optional().describe('With the decision "answer"'),
  agent: Slug.optional().describe('With the decision "verify": who judges; without it any agent that may'),
  budget: Budget.optional().describe('With the decision "raise": what it may use from now on'),
  move: z
    .strictObject({ from: Uuid, usd: Dollars.optional(), tokens: z.int().min(1).optional() })
    .optional()
    .describe('With the decision "move": a part of another budget'),
  generation: Generation.optional().describe('The generation of the item; refused when it is another one'),
  digest: Digest.optional().describe('The digest of the item; refused when it is another one'),
  fresh: Fresh.optional().describe('With the decisions "reject" and "retry": the next attempt starts over'),
})

/** One decision about several items. */
const MOST_ITEMS = 100
const { decision, comment, answer, fresh } = InboxAnswer.shape
export const InboxAnswers = z.strictObject({
  ...{ decision, comment, answer, fresh },
  items: z
    .array(
      z.strictObject({
        id: z.string().min(1).max(200),
        generation: InboxAnswer.shape.generation,
        digest: InboxAnswer.shape.digest,
      }),
    )
    .min(1)
    .max(MOST_ITEMS),
})

export const InboxOutcomes = z.object({
  items: z
    .array(
      z.object({
        id: z.string(),
        done: z.boolean(),
        state: z.string().nullable().describe('After the decision; null: it was refused'),
        code: z.string().nullable().describe('Why it was refused'),
        detail: z.string().nullable(),
      }),
    )
    .describe('In the order of the request'),
  done: z.int().describe('For how many it was done'),
})

export const InboxOutcome = z.object({
  id: z.string(),
  decision: z.enum(DECISIONS),
  about: About,
  state: z.string().describe('Of the task, the mission, the agent or the budget, after the decision'),
})
