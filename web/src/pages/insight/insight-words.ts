import type { AnswerTo } from '../../../../src/client/client.ts'
import { RUN_ERRORS } from '../../../../src/kinds/run/rules/outcomes.ts'
import { wantedText } from '../../../../src/views/board/filter.ts'
import type { Bar, Part } from '../../graphs/chart.tsx'
import { WINDOW_MS, type Window } from '../../parts/windows.ts'
import { countText, durationText } from '../../parts/wording.ts'
import { nameOfTask } from '../../requests/act-words.ts'
import { writeSearch } from '../../search-params.ts'

/** What happened in a period, as bars. Each leads to its tasks. Pure. */

type Causes = AnswerTo<'GET', '/insight/causes'>['items']
type Slowest = AnswerTo<'GET', '/insight/slowest'>['items']
type Bottlenecks = AnswerTo<'GET', '/insight/bottlenecks'>['items']
type Telemetry = AnswerTo<'GET', '/telemetry'>

/** The beginning of the period, on the server's clock. */
export const fromOf = (window: Window, now: number) => new Date(now - WINDOW_MS[window]).toISOString()

const CAUSE_WORDS: Record<string, string> = {
  lease_expired: 'Its holder fell silent until the lease ended',
  worker_lost: 'Its worker was lost',
  agent_lost: 'Its agent was lost',
  stalled: 'No output before the timeout',
  hung: 'It ran long beyond its estimate, without progress',
  verification: 'The result did not pass verification',
  rejected: 'A person rejected the result',
  budget: 'The budget was spent',
  infrastructure: 'A program, the machine or a service failed',
  quality: 'The work was not good enough',
  rate_limited: 'The model was rate limited',
  out_of_memory: 'Out of memory',
  invalid: 'The task cannot be done as it is asked',
  human: 'It waits for a person',
  dependency: 'A task that it needs failed',
  unknown: 'Not known',
}

/** Why attempts fail, in words. */
export const causeWords = (cause: string): string =>
  CAUSE_WORDS[cause] ??
  (Object.hasOwn(RUN_ERRORS, cause)
    ? RUN_ERRORS[cause as keyof typeof RUN_ERRORS].title
    : cause.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase()))

/** What the log says of a failed attempt, without the time of the next one, which is over. */
export const failureText = (message: string): string =>
  message.replace(/^(Attempt \d+ failed); the task is retried at .+? UTC(?=[.:])/, '$1')

const times = (count: number) => `${countText(count)} ${count === 1 ? 'time' : 'times'}`
const share = (part: number, all: number) => (all === 0 ? '–' : `${Math.round((part / all) * 100)} %`)

export const failureBars = (causes: Causes, window: Window): Bar[] =>
  causes.map(({ cause, failures, tasks, completed }) => {
    const words = causeWords(cause)
    return {
      ...{ key: cause, name: words, words },
      parts: [{ hue: 'bad', value: failures, words: 'Failures' }],
      text: times(failures),
      to: `/insight${writeSearch({ window: window === '24h' ? undefined : window, cause })}`,
      more: [countText(failures), countText(tasks), `${countText(completed)} (${share(completed, tasks)})`],
    }
  })

const nameOf = ({ taskId, key, title }: { taskId: string; key: string | null; title: string }) =>
  `${key ?? nameOfTask(taskId, undefined)} ${title}`
const pathOf = ({ taskId, key }: { taskId: string; key: string | null }) => `/tasks/${key ?? taskId}`

export const slowestBars = (tasks: Slowest): Bar[] =>
  tasks.map((task) => ({
    ...{ key: task.taskId, name: nameOf(task), words: nameOf(task) },
    parts: [{ hue: 'go', value: task.workMs, words: 'Worked' }],
    text: durationText(task.workMs),
    to: pathOf(task),
    more: [
      durationText(task.workMs),
      durationText(task.waitMs),
      countText(task.attempts),
      task.agent ?? 'nobody',
    ],
  }))

export const bottleneckBars = (tasks: Bottlenecks): Bar[] =>
  tasks.map((task) => ({
    ...{ key: task.taskId, name: nameOf(task), words: nameOf(task) },
    parts: [{ hue: 'held', value: task.delayMs, words: 'Others waited' }],
    text: durationText(task.delayMs),
    to: pathOf(task),
    more: [
      durationText(task.delayMs),
      task.blocks >= 1_000 ? '1,000 or more' : countText(task.blocks),
      task.agent ?? 'nobody',
    ],
  }))

/** Completed, failed, and what ended in another way. */
const outcome = (tasks: number, completed: number, failed: number): Part[] => [
  { hue: 'done', value: completed, words: 'Done' },
  { hue: 'bad', value: failed, words: 'Failed' },
  { hue: 'wait', value: tasks - completed - failed, words: 'Ended otherwise' },
]

/** As a filter of the board: a type may have any letters, and one that looks like a list is one. */
const listOf = (value: string) => wantedText({ some: [value], none: [] })

/** Those with most tasks first. Each leads to its agent's tasks of its type. */
export const agentBars = (agents: Telemetry['agents']): Bar[] =>
  [...agents]
    .sort((a, b) => b.tasks - a.tasks)
    .map(({ agent, taskType, tasks, completed, failed, attempts }) => ({
      ...{ key: `${agent} ${taskType}`, name: `${agent}, ${taskType}`, words: `${agent}, ${taskType}` },
      parts: outcome(tasks, completed, failed),
      text: `${share(completed, tasks)} of ${countText(tasks)}`,
      to: `/board${writeSearch({ view: 'list', agent, type: listOf(taskType) })}`,
      more: [
        countText(tasks),
        countText(completed),
        countText(failed),
        share(completed, tasks),
        attempts.toFixed(1),
      ],
    }))

export const retryBars = (retries: Telemetry['retries'], window: Window): Bar[] =>
  [...retries]
    .sort((a, b) => b.tasks - a.tasks)
    .map(({ failureClass, retries: count, tasks, completed }) => {
      const words = causeWords(failureClass ?? 'unknown')
      return {
        ...{ key: failureClass ?? '', name: words, words },
        parts: [
          { hue: 'done', value: completed, words: 'Done by now' },
          { hue: 'wait', value: tasks - completed, words: 'Not done' },
        ],
        text: `${share(completed, tasks)} of ${countText(tasks)}`,
        to: `/events${writeSearch({ type: 'task_retrying', since: window })}`,
        more: [countText(count), countText(tasks), `${countText(completed)} (${share(completed, tasks)})`],
      }
    })

/** What verifiers said, and how often a person decided otherwise. */
export function verdictBars(verdicts: Telemetry['verdicts'], window: Window): Bar[] {
  const { passed, passedOverruled, failed, failedOverruled, unsure, unsureApproved, unsureRejected } =
    verdicts
  const bar = (name: string, type: string, parts: Part[], text: string): Bar => ({
    ...{ key: type, name, words: name, parts, text },
    to: `/events${writeSearch({ type, since: window })}`,
    more: parts.map(({ value }) => countText(value)),
  })
  return [
    bar(
      'Passed',
      'task_verification_passed',
      [
        { hue: 'done', value: passed - passedOverruled, words: 'Stood' },
        { hue: 'bad', value: passedOverruled, words: 'Overruled' },
        { hue: 'wait', value: 0, words: 'Not decided' },
      ],
      `${countText(passedOverruled)} of ${countText(passed)} overruled`,
    ),
    bar(
      'Did not pass',
      'task_verification_failed,task_failed',
      [
        { hue: 'done', value: failed - failedOverruled, words: 'Stood' },
        { hue: 'bad', value: failedOverruled, words: 'Overruled' },
        { hue: 'wait', value: 0, words: 'Not decided' },
      ],
      `${countText(failedOverruled)} of ${countText(failed)} overruled`,
    ),
    bar(
      'Left to a person',
      'task_human_review_requested',
      [
        { hue: 'done', value: unsureApproved, words: 'Stood' },
        { hue: 'bad', value: unsureRejected, words: 'Overruled' },
        { hue: 'wait', value: unsure - unsureApproved - unsureRejected, words: 'Not decided' },
      ],
      `${countText(unsureRejected)} of ${countText(unsure)} rejected`,
    ),
  ]
}
