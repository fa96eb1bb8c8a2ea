import type { EventType } from '../../../../../src/kinds/events.ts'
import type { LiveEvent } from '../../../live/card.ts'
import { countText, moneyText } from '../../../parts/wording.ts'
import type { IconName } from '../../../theme/icons.ts'
import type { Hue } from '../../../theme/marks.ts'
import { agentOf, codeInWords, isPerson, type Part, THE_TASK, textOf, who } from './parts.ts'

/** What an event of a mission says to people: a sentence, and what somebody wrote. Pure. */

export type Group = 'problems' | 'tasks' | 'plan' | 'people'

export interface Said {
  icon: IconName
  hue: Hue | null
  parts: Part[]
  /** In the words of a person, an agent or a program. */
  quote?: string | null
}

interface Rule {
  of: readonly Group[]
  say: (event: LiveEvent) => Said | null
}

const said =
  (icon: IconName, hue: Hue | null, of: readonly Group[]) =>
  (parts: (event: LiveEvent) => Part[], quote?: (event: LiveEvent) => string | null): Rule => ({
    of,
    say: (event) => ({ icon, hue, parts: parts(event), quote: quote?.(event) ?? null }),
  })

/** Of the payload. A code is no quote. */
const words =
  (...fields: string[]) =>
  ({ payload }: LiveEvent): string | null => {
    for (const field of fields) {
      const text = textOf(payload[field])
      if (text !== null) return codeInWords(text)
    }
    return null
  }

const tasks = (count: unknown) => (count === 1 ? '1 task' : `${countText(Number(count) || 0)} tasks`)
const attemptOf = ({ payload: { attempt } }: LiveEvent) =>
  typeof attempt === 'number' && attempt > 1 ? `, attempt ${attempt}` : ''

const plan = said('list', 'held', ['plan'])
const goes = said('play', null, ['tasks'])
const done = said('check', 'done', ['tasks'])
const problem = said('warning', 'bad', ['tasks', 'problems'])
const decided = said('people', 'ask', ['tasks', 'people'])
const waits = said('people', 'ask', ['tasks', 'problems'])
const ended = said('missions', 'done', ['plan'])
const badlyEnded = said('missions', 'bad', ['plan', 'problems'])

/** How an agent lost a task. */
const lost = (how: string) =>
  problem((event) => [agentOf(event), ` ${how} and lost `, THE_TASK, attemptOf(event), '.'])

const costOf = ({ payload }: LiveEvent) => {
  const cost = textOf(payload.totalCost)
  return cost === null ? '' : `, ${moneyText(cost)}`
}

/** Of missions. */
const MISSION: Partial<Record<EventType, Rule>> = {
  mission_created: plan((event) => [...who(event), ' created the mission.']),
  mission_planning_started: plan((event) => {
    const agent = textOf(event.payload.agent)
    return agent === null ? ['The plan is being made.'] : [{ agent }, ' makes the plan.']
  }),
  mission_plan_ready: plan(({ payload: { version, taskCount } }) => [
    `Version ${version} of the plan is ready: ${tasks(taskCount)}.`,
  ]),
  mission_plan_proposed: plan((event) => [
    ...who(event),
    ` proposed version ${event.payload.version} of the plan: ${tasks(event.payload.taskCount)}.`,
  ]),
  mission_plan_rejected: said('people', 'ask', ['plan', 'people'])(
    (event) => [...who(event), ` rejected version ${event.payload.version} of the plan.`],
    words('comment'),
  ),
  mission_plan_failed: badlyEnded(
    () => ['No valid plan was made: a person has to write one.'],
    words('reason'),
  ),
  mission_approved: said('people', 'done', ['plan', 'people'])(
    (event) => [
      ...who(event),
      ` approved version ${event.payload.version} of the plan: ${tasks(event.payload.taskCount)}.`,
    ],
    words('comment'),
  ),
  mission_plan_changed: said('people', 'done', ['plan', 'people'])((event) => {
    const { version, added, changed, cancelled } = event.payload
    return [
      ...who(event),
      ` approved version ${version} of the plan while it runs: ${added} added, ${changed} changed, ${cancelled} cancelled.`,
    ]
  }, words('comment')),
  mission_rejected: badlyEnded(
    (event) => [...who(event), ' rejected the plan, and the mission ended.'],
    words('comment'),
  ),
  mission_paused: said('pause', 'held', ['plan', 'people'])(
    (event) => [...who(event), ' paused the mission.'],
    words('reason'),
  ),
  mission_resumed: said('play', null, ['plan', 'people'])((event) => [
    ...who(event),
    ' resumed the mission.',
  ]),
  mission_updated: said('edit', null, ['plan', 'people'])((event) => [
    ...who(event),
    ' changed the settings of the mission.',
  ]),
  mission_budget_exceeded: badlyEnded((event) => [
    `The budget is spent${costOf(event)}. It waits for a person.`,
  ]),
  mission_budget_increased: said('people', 'done', ['plan', 'people'])((event) => [
    ...who(event),
    ' raised the budget.',
  ]),
  mission_stopping: badlyEnded(
    (event) => [`The mission is being stopped: ${tasks(event.payload.tasksRemaining)} left.`],
    words('reason'),
  ),
  mission_completed: ended((event) => [
    `The mission is done: ${tasks(event.payload.tasksCompleted)}${costOf(event)}.`,
  ]),
  mission_failed: badlyEnded(
    (event) => [`The mission failed: ${tasks(event.payload.tasksFailed)} failed${costOf(event)}.`],
    words('reason'),
  ),
  mission_cancelled: said('cancel', 'wait', ['plan', 'people'])(
    (event) => [...who(event), ' cancelled the mission.'],
    words('reason'),
  ),
  mission_outcome_ready: said('people', 'ask', ['plan'])(() => [
    'The work is done: a person decides about the outcome.',
  ]),
  mission_outcome_declined: said('people', 'ask', ['plan', 'people'])(
    (event) => [...who(event), ' rejected the outcome.'],
    words('missing'),
  ),
  mission_reopened: plan((event) => [`The mission is open again: ${tasks(event.payload.tasks)} to do.`]),
  mission_retrying: said('retry', null, ['plan', 'people'])(
    (event) => [...who(event), ` had ${tasks(event.payload.tasks)} that failed done again.`],
    words('reason'),
  ),
  comment_added: said('comment', null, ['people'])(
    (event) =>
      event.taskId === null
        ? [...who(event), ' commented:']
        : [...who(event), ' commented on ', THE_TASK, ':'],
    words('preview'),
  ),
  report_written: {
    of: ['plan'],
    // Every task has one when it ends: that is told already.
    say: ({ taskId, payload }) =>
      taskId === null && textOf(payload.taskId) === null
        ? { icon: 'audit', hue: null, parts: [`Version ${payload.version} of the report was written.`] }
        : null,
  },
}

/** Of tasks and their runs. */
const TASK: Partial<Record<EventType, Rule>> = {
  task_created: {
    of: ['tasks', 'plan'],
    // Those of the plan are told with its approval.
    say: (event) =>
      textOf(event.payload.childOf) === null && !isPerson(event)
        ? null
        : { icon: 'plus', hue: 'held', parts: [...who(event), ' added ', THE_TASK, '.'] },
  },
  task_divided: goes((event) => [THE_TASK, ` was divided into ${event.payload.parts} parts.`]),
  task_assigned: goes((event) => [agentOf(event), ' took ', THE_TASK, attemptOf(event), '.']),
  task_continues_later: goes((event) => [
    agentOf(event),
    ' waits for other tasks to continue ',
    THE_TASK,
    '.',
  ]),
  task_released: goes((event) => [agentOf(event), ' gave ', THE_TASK, ' back.'], words('reason')),
  task_requeued: said('retry', 'wait', ['tasks', 'problems'])(
    () => [THE_TASK, ' is back in the queue.'],
    words('because'),
  ),
  task_completed: done((event) => [agentOf(event), ' finished ', THE_TASK, '.']),
  task_merged: done((event) => [
    `The results of ${event.payload.parts} parts were merged: `,
    THE_TASK,
    ' is done.',
  ]),
  task_completed_by_person: decided(
    (event) => [...who(event), ' gave the result of ', THE_TASK, '.'],
    words('comment'),
  ),
  task_human_review_requested: waits(
    (event) =>
      textOf(event.payload.question) === null
        ? [THE_TASK, ' waits for a person to review its result.']
        : [agentOf(event), ' has a question about ', THE_TASK, ':'],
    words('question', 'reason'),
  ),
  task_answered: decided(
    (event) => [...who(event), ' answered the question of ', THE_TASK, ':'],
    words('answer'),
  ),
  task_verification_passed: done(
    () => ['The result of ', THE_TASK, ' passed its verification.'],
    words('verdict'),
  ),
  task_verification_failed: problem(
    (event) => ['The result of ', THE_TASK, ` did not pass its verification${attemptOf(event)}.`],
    words('verdict'),
  ),
  task_human_approved: decided(
    (event) => [...who(event), ' approved the result of ', THE_TASK, '.'],
    words('comment'),
  ),
  task_human_rejected: {
    of: ['tasks', 'people', 'problems'],
    say: decided((event) => [...who(event), ' rejected the result of ', THE_TASK, '.'], words('comment')).say,
  },
  task_result_promoted: decided(
    (event) => [...who(event), ' accepted an earlier result of ', THE_TASK, '.'],
    words('reason'),
  ),
  task_skipped: said('cancel', 'wait', ['tasks', 'problems'])(
    () => [THE_TASK, ' was skipped.'],
    words('because'),
  ),
  task_retrying: problem(
    (event) => [THE_TASK, ` failed and is tried again${attemptOf(event)}.`],
    words('error'),
  ),
  task_failed: problem(() => [THE_TASK, ' failed.'], words('error', 'comment', 'verdict', 'reason')),
  task_lease_expired: lost('did not renew its lease'),
  task_worker_lost: lost('was silent'),
  task_agent_lost: lost('was silent'),
  task_stalled: lost('gave no sign of life'),
  task_hung: lost('made no progress'),
  task_expired: problem(() => ['Nobody took ', THE_TASK, ' in time.']),
  task_budget_exceeded: problem(() => [THE_TASK, ' has spent its budget.'], words('error')),
  task_paused: said('pause', 'held', ['tasks', 'people'])(
    (event) => [...who(event), ' paused ', THE_TASK, '.'],
    words('reason'),
  ),
  task_unpaused: said('play', null, ['tasks', 'people'])((event) => [
    ...who(event),
    ' resumed ',
    THE_TASK,
    '.',
  ]),
  task_retried: said('retry', null, ['tasks', 'people'])(
    (event) => [...who(event), ' had ', THE_TASK, ' done again.'],
    words('reason'),
  ),
  task_reset: said('retry', null, ['tasks', 'people'])(
    (event) => [...who(event), ' put ', THE_TASK, ' back in the queue.'],
    words('reason'),
  ),
  task_cancelled: said('cancel', 'wait', ['tasks', 'people'])(
    (event) => [...who(event), ' cancelled ', THE_TASK, '.'],
    words('reason'),
  ),
  task_updated: said('edit', null, ['tasks', 'people'])((event) => [
    ...who(event),
    ' edited ',
    THE_TASK,
    '.',
  ]),
  stall_detected: problem((event) =>
    event.taskId === null ? ['The mission does not move.'] : [THE_TASK, ' does not move.'],
  ),
  model_fallback: said('info', 'wait', ['tasks', 'problems'])((event) => [
    agentOf(event),
    ` works on `,
    THE_TASK,
    ` with the model ${event.payload.to}.`,
  ]),
  run_started: said('runs', null, ['tasks'])((event) => [
    agentOf(event),
    ' started a run for ',
    THE_TASK,
    '.',
  ]),
  run_flagged: said('warning', 'ask', ['tasks', 'problems'])(
    (event) => ['The run of ', agentOf(event), ' for ', THE_TASK, ' looks stuck.'],
    words('detail'),
  ),
  run_finished: {
    of: ['tasks', 'problems'],
    say: (event) => {
      const { status, exitCode } = event.payload
      // Its task says what follows from the others.
      if (status !== 'failed' && status !== 'timed_out') return null
      const how =
        typeof exitCode === 'number' && exitCode !== 0
          ? `exited with code ${exitCode}`
          : (RUN_ENDS[String(status)] ?? 'ended')
      const parts: Part[] = ['The run of ', agentOf(event), ' for ', THE_TASK, ` ${how}.`]
      return { icon: 'runs', hue: 'bad', parts }
    },
  },
}

const RUN_ENDS: Record<string, string> = {
  failed: 'failed',
  timed_out: 'took too long and was stopped',
}

export const RULES: Partial<Record<EventType, Rule>> = { ...MISSION, ...TASK }
