import { z } from 'zod'
import { type EventSpec, eventsAbout, text } from '../../pure/event.ts'
import { brief, count, holding, list, why } from '../../pure/words.ts'
import type { MissionTransition } from './states.ts'

/** The model of the agent that plans; null: nobody is named for it, or the model is not known. */
const planner = { plannerModel: text.nullable().optional() }
const planned = {
  version: z.int(),
  digest: text,
  taskCount: z.int(),
  strategy: text.nullable(),
  estimatedTokens: z.int(),
  estimatedUsd: text.nullable(),
  ...planner,
}
/** The runs that have ended; `unknownRuns` of them have no known cost. `totalCost` is null if the cost of none is known. */
const costOfRuns = {
  totalCost: text.nullable(),
  runs: z.int().optional(),
  unknownRuns: z.int().optional(),
}
const spent = { ...costOfRuns, totalTokens: z.int(), budget: z.unknown() }
const ended = {
  totalTokens: z.int(),
  ...costOfRuns,
  durationMs: z.int().nullable(),
  tasksCompleted: z.int(),
  tasksFailed: z.int(),
  reason: text.optional(),
}

const event = eventsAbout({ entity: 'mission' }, { missionId: text })

/** Events of missions. State changes are named as in kinds/mission/states.ts. */
export const missionEvents = {
  mission_created: event.info(
    { goal: text, title: text, autonomy: text, config: z.unknown().optional() },
    ({ title }) => `The mission "${brief(title)}" was created.`,
  ),
  mission_planning_started: event.info(
    { agent: text.nullable(), ...planner },
    ({ agent }) => `The mission is being planned${agent === null ? '' : ` by ${agent}`}.`,
  ),
  mission_plan_ready: event.info(
    planned,
    ({ version, taskCount }) => `Plan ${version} of the mission is ready: ${count(taskCount, 'task')}.`,
  ),
  mission_plan_rejected: event.info(
    {
      version: z.int(),
      comment: text.nullable(),
      /** The version that the mission continues with, if it runs. */
      follows: z.int().optional(),
    },
    ({ version, comment, follows }) =>
      `Plan ${version} was rejected; ${follows === undefined ? 'another one is made' : `the mission continues with plan ${follows}`}${why(comment)}.`,
  ),
  mission_plan_failed: event.warn(
    { reason: text },
    ({ reason }) => `The mission has no valid plan; a person has to propose one${why(reason)}.`,
  ),
  mission_approved: event.info(
    {
      approvedBy: text,
      version: z.int(),
      digest: text,
      taskCount: z.int(),
      comment: text.nullable(),
      proposedBy: text.optional(),
    },
    ({ version, taskCount }) => `Plan ${version} was approved: ${count(taskCount, 'task')}.`,
  ),
  mission_rejected: event.warn(
    { version: z.int(), comment: text.nullable() },
    ({ comment }) => `The plan was rejected, and the mission ended${why(comment)}.`,
  ),
  mission_paused: event.info(
    { reason: text.nullable(), held: z.int() },
    ({ reason, held }) => `The mission was paused${holding(held)}${why(reason)}.`,
  ),
  mission_resumed: event.info({}, () => 'The mission was resumed.'),
  mission_updated: event.info(
    { fields: z.array(text) },
    ({ fields }) => `The mission was updated: ${list(fields)}.`,
  ),
  mission_budget_warning: event.warn(
    {
      budgetId: text,
      consumedUsd: text,
      consumedTokens: z.int(),
      maxUsd: text.nullable(),
      maxTokens: z.int().nullable(),
      percentUsed: z.number(),
    },
    ({ percentUsed }) => `The budget of the mission is ${percentUsed} % used.`,
  ),
  mission_budget_exceeded: event.warn(
    spent,
    ({ totalCost }) =>
      `The mission has spent its budget${totalCost === null ? '' : ` ($${totalCost})`} and waits for a person.`,
  ),
  mission_budget_increased: event.info(
    { before: z.unknown(), after: z.unknown() },
    () => 'The budget of the mission was increased.',
  ),
  mission_stopping: event.warn(
    { reason: text, tasksRemaining: z.int() },
    ({ reason, tasksRemaining }) =>
      `The mission is being stopped, with ${count(tasksRemaining, 'task')} left${why(reason)}.`,
  ),
  mission_completed: event.info(
    ended,
    ({ tasksCompleted, totalCost }) =>
      `The mission is completed: ${count(tasksCompleted, 'task')}, ${totalCost === null ? 'unknown cost' : `$${totalCost}`}.`,
  ),
  mission_failed: event.error(
    ended,
    ({ tasksFailed, reason }) => `The mission failed: ${count(tasksFailed, 'task')} failed${why(reason)}.`,
  ),
  mission_cancelled: event.warn(ended, ({ reason }) => `The mission was cancelled${why(reason)}.`),
  mission_outcome_ready: event.info(
    { tasksCompleted: z.int() },
    () => 'The work of the mission is done; a person decides about the outcome.',
  ),
  mission_outcome_declined: event.info(
    { missing: text, isPlanned: z.boolean() },
    ({ missing }) => `A person rejected the outcome of the mission${why(missing)}.`,
  ),
  /** Another plan, while the tasks of the approved one continue. */
  mission_plan_proposed: event.info(
    planned,
    ({ version, taskCount }) =>
      `Version ${version} of the plan was proposed, with ${count(taskCount, 'task')}.`,
  ),
  /** A newer plan is approved while the mission runs. */
  mission_plan_changed: event.info(
    {
      approvedBy: text,
      version: z.int(),
      digest: text,
      taskCount: z.int(),
      comment: text.nullable(),
      added: z.int(),
      changed: z.int(),
      cancelled: z.int(),
    },
    ({ version, added, changed, cancelled }) =>
      `The mission follows version ${version} of its plan: ${added} added, ${changed} changed, ${cancelled} cancelled.`,
  ),
  mission_reopened: event.info(
    { tasks: z.int() },
    ({ tasks }) => `The mission is open again: ${count(tasks, 'task')} to do.`,
  ),
  /** Nobody has to be told any longer that it ended. */
  mission_seen: event.info({}, () => 'Somebody has seen that the mission ended.'),
  cost_snapshot: event.info(
    {
      ...spent,
      percentUsed: z.number().nullable(),
      byTask: z.array(z.object({ taskId: text, tokens: z.int(), costUsd: text.nullable() })),
    },
    ({ totalCost, percentUsed }) =>
      `The mission has spent ${totalCost === null ? 'an unknown amount' : `$${totalCost}`}${percentUsed === null ? '' : ` (${percentUsed} % of its budget)`}.`,
  ),
  /** The failed tasks are to be done again, and what was skipped because of them. */
  mission_retrying: event.info(
    { reason: text.nullable(), tasks: z.int() },
    ({ reason, tasks }) => `The mission does ${count(tasks, 'failed task')} again${why(reason)}.`,
  ),
} satisfies Record<MissionTransition, EventSpec> & Record<string, EventSpec>

type MissionEvents = typeof missionEvents
declare module '../events.ts' {
  interface Catalogue extends MissionEvents {}
}
