import type { EventType } from '../../../../../src/kinds/events.ts'
import type { LiveEvent } from '../../../live/card.ts'
import { spentText } from '../../../parts/wording.ts'
import { THE_TASK, textOf, who } from './parts.ts'
import { type Rule, said, tasksText, words } from './rule.ts'

/** What happened to a mission, its plan and its report. Pure. */

const plan = said('list', 'held', ['plan'])
const ended = said('missions', 'done', ['plan'])
const badlyEnded = said('missions', 'bad', ['plan', 'problems'])

const costOf = ({ payload }: LiveEvent, isSimulated: boolean) => {
  const cost = textOf(payload.totalCost)
  return cost === null ? '' : `, ${spentText(cost, isSimulated)}`
}

export const MISSION_RULES: Partial<Record<EventType, Rule>> = {
  mission_created: plan((event) => [...who(event), ' created the mission.']),
  mission_planning_started: plan((event) => {
    const agent = textOf(event.payload.agent)
    return agent === null ? ['The plan is being made.'] : [{ agent }, ' is making the plan.']
  }),
  mission_plan_ready: plan(({ payload: { version, taskCount } }) => [
    `Version ${version} of the plan is ready: ${tasksText(taskCount)}.`,
  ]),
  mission_plan_proposed: plan((event) => [
    ...who(event),
    ` proposed version ${event.payload.version} of the plan: ${tasksText(event.payload.taskCount)}.`,
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
      ` approved version ${event.payload.version} of the plan: ${tasksText(event.payload.taskCount)}.`,
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
  mission_budget_warning: badlyEnded(({ payload }) => [
    `${typeof payload.percentUsed === 'number' ? `${payload.percentUsed} %` : 'Most'} of the budget is used.`,
  ]),
  mission_budget_exceeded: badlyEnded((event, isSimulated) => [
    `The budget is spent${costOf(event, isSimulated)}. It waits for a person.`,
  ]),
  mission_budget_increased: said('people', 'done', ['plan', 'people'])((event) => [
    ...who(event),
    ' raised the budget.',
  ]),
  mission_stopping: badlyEnded(
    (event) => [`The mission is being stopped: ${tasksText(event.payload.tasksRemaining)} left.`],
    words('reason'),
  ),
  mission_completed: ended((event, isSimulated) => [
    `The mission is done: ${tasksText(event.payload.tasksCompleted)}${costOf(event, isSimulated)}.`,
  ]),
  mission_failed: badlyEnded(
    (event, isSimulated) => [
      `The mission failed: ${tasksText(event.payload.tasksFailed)} failed${costOf(event, isSimulated)}.`,
    ],
    words('reason'),
  ),
  mission_cancelled: said('cancel', 'wait', ['plan', 'people'])(
    (event) => [...who(event), ' cancelled the mission.'],
    words('reason'),
  ),
  mission_outcome_ready: said('people', 'ask', ['plan'])(() => [
    'The work is done: a person decides whether to accept the outcome.',
  ]),
  mission_outcome_declined: said('people', 'ask', ['plan', 'people'])(
    (event) => [...who(event), ' rejected the outcome.'],
    words('missing'),
  ),
  mission_reopened: plan((event) => [`The mission was reopened: ${tasksText(event.payload.tasks)} to do.`]),
  mission_retrying: said('retry', null, ['plan', 'people'])(
    (event) => [...who(event), ` retried ${tasksText(event.payload.tasks)} that failed.`],
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
