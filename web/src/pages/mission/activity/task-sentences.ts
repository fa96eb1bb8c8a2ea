import type { EventType } from '../../../../../src/kinds/events.ts'
import { agentOf, isPerson, type Part, THE_TASK, textOf, who } from './parts.ts'
import { attemptOf, type Rule, said, words } from './rule.ts'

/** What happened to the tasks of a mission, and to their runs. Pure. */

const goes = said('play', null, ['tasks'])
const done = said('check', 'done', ['tasks'])
const problem = said('warning', 'bad', ['tasks', 'problems'])
const decided = said('people', 'ask', ['tasks', 'people'])
const waits = said('people', 'ask', ['tasks', 'problems'])

/** How an agent lost a task. */
const lost = (how: string) =>
  problem((event) => [agentOf(event), ` ${how} and lost `, THE_TASK, attemptOf(event), '.'])

export const TASK_RULES: Partial<Record<EventType, Rule>> = {
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
  task_retrying: problem((event) => [THE_TASK, ` failed and is retried${attemptOf(event)}.`], words('error')),
  task_failed: problem(() => [THE_TASK, ' failed.'], words('error', 'comment', 'verdict', 'reason')),
  task_lease_expired: lost('did not renew its lease'),
  task_worker_lost: lost('stopped responding'),
  task_agent_lost: lost('stopped responding'),
  task_stalled: lost('stopped responding'),
  task_hung: lost('made no progress'),
  task_expired: problem(() => ['Nobody took ', THE_TASK, ' in time.']),
  task_budget_exceeded: problem(() => [THE_TASK, ' was stopped: a budget is spent.'], words('error')),
  task_budget_too_small: problem(
    () => [THE_TASK, ' does not begin: a budget has less left than its estimate.'],
    words('error'),
  ),
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
    (event) => [...who(event), ' retried ', THE_TASK, '.'],
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
    event.taskId === null ? ['The mission makes no progress.'] : [THE_TASK, ' makes no progress.'],
  ),
  model_fallback: said('info', 'wait', ['tasks', 'problems'])((event) => [
    agentOf(event),
    ` switched to the model ${event.payload.to} for `,
    THE_TASK,
    '.',
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
