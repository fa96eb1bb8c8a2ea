import { CLAIM_ENDS, type TaskState } from '../../../pure/states.ts'
import { readVerdict } from '../../verification/rules.ts'
import {
  against,
  code,
  inLine,
  linkTo,
  linkToRun,
  linkToTask,
  moment,
  quoted,
  sections,
  span,
} from './markdown.ts'
import type { EndEvent, TaskMaterial } from './material.ts'

/** The report on a task that has ended: its outcome first. */

const OUTCOMES: Partial<Record<TaskState, string>> = {
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  skipped: 'Skipped',
}

export function taskReport(task: TaskMaterial, ended: EndEvent): string {
  return sections(
    [null, `# ${inLine(task.title)}`],
    ['Outcome', outcomeOf(task, ended)],
    ['Failures', failuresOf(task)],
    ['Timeline', timelineOf(task)],
    ['Verdicts', verdictsOf(task)],
    ['Cost', costOf(task)],
    ['Links', linksOf(task)],
  )
}

function outcomeOf(task: TaskMaterial, { type, actor }: EndEvent): string {
  const { state, agent, attempt, startedAt, completedAt, summary } = task
  const took = startedAt === null || completedAt === null ? '' : ` after ${span(completedAt - startedAt)}`
  const by = agent === null ? '' : `, by ${code(agent)}`
  const tried = attempt > 1 ? `, at attempt ${attempt}` : ''
  const line = `**${OUTCOMES[state] ?? state}**${took}${by}${tried}. Ended with ${code(type)} by ${code(actor)}.`
  return summary === null || summary.trim() === '' ? line : `${line}\n\n${quoted(summary)}`
}

function failuresOf({ state, error, failureClass, runs, attempts }: TaskMaterial): string {
  const last =
    state === 'failed'
      ? [
          `The task failed${failureClass === null ? '' : ` (${code(failureClass)})`}.`,
          quoted(error ?? 'No reason was given.'),
        ]
      : []
  const lost = attempts
    .filter(({ endReason }) => CLAIM_ENDS[endReason] !== 'released')
    .map(
      ({ generation, agent, endReason }) =>
        `- Generation ${generation} of ${code(agent)} ended as ${code(endReason)}.`,
    )
  const failed = runs
    .filter(({ status }) => status === 'failed' || status === 'timed_out')
    .map(
      ({ id, agent, status, error: why }) =>
        `- A ${linkToRun(id)} of ${code(agent)} ${status === 'failed' ? 'failed' : 'timed out'}${why === null ? '' : `: ${inLine(why)}`}.`,
    )
  const lines = [...lost, ...failed].join('\n')
  return [...last, ...(lines === '' ? [] : [lines])].join('\n\n')
}

const timelineOf = ({ createdAt, attempts, completedAt, state }: TaskMaterial) =>
  [
    `- ${moment(createdAt)}: created`,
    ...attempts.flatMap(({ generation, agent, acquiredAt, endedAt, endReason }) => [
      `- ${moment(acquiredAt)}: claimed by ${code(agent)} (generation ${generation})`,
      `- ${moment(endedAt)}: generation ${generation} ended as ${code(endReason)}`,
    ]),
    `- ${moment(completedAt)}: ${state}`,
  ].join('\n')

const verdictsOf = ({ verdicts }: TaskMaterial) =>
  verdicts
    .map(({ taskId, generation, state, verifier, answer }) => {
      const about = `Generation ${generation}, by ${verifier === null ? 'nobody' : code(verifier)} (${linkToTask(taskId, 'verification')})`
      const reading = answer === null ? null : readVerdict(answer)
      if (!reading?.ok) return `- ${about}: no verdict; the verification is ${state}.`
      const { verdict, score, feedback } = reading.verdict
      const said = feedback.trim() === '' ? '' : `: ${inLine(feedback.slice(0, 1_000).toWellFormed())}`
      return `- ${about}: **${verdict}**, score ${score}${said}`
    })
    .join('\n')

function costOf({ tokens, usd, estimatedTokens }: TaskMaterial): string {
  const estimate =
    estimatedTokens === null ? '' : `; ${estimatedTokens} were estimated${against(tokens, estimatedTokens)}`
  return `${tokens} tokens${estimate}. ${usd === null ? 'The price is not known.' : `$${usd}.`}`
}

const linksOf = ({ uuid, runs }: TaskMaterial) =>
  [
    `- ${linkTo('Task', `/tasks/${uuid}`)}, its ${linkTo('results', `/tasks/${uuid}/results`)}`,
    ...runs.map(
      ({ id, agent, model, status }) =>
        `- ${linkToRun(id)} of ${code(agent)}${model === null ? '' : ` with ${code(model)}`}: ${inLine(status)}`,
    ),
  ].join('\n')
