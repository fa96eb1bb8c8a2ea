import { CLAIM_ENDS } from '../../../pure/states.ts'
import { spentWords } from '../../mission/rules/spending.ts'
import { readVerdict } from '../../verification/rules.ts'
import {
  against,
  counted,
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
import { claimWords, failureWords, type NameOf, runWords, stateWords, whoDid } from './words.ts'

/** The report on a task that has ended: its outcome first. */

export function taskReport(task: TaskMaterial, ended: EndEvent, nameOf: NameOf = () => null): string {
  return sections(
    [null, `# ${inLine(task.title)}`],
    ['Outcome', outcomeOf(task, ended, nameOf)],
    ['Failures', failuresOf(task)],
    ['Timeline', timelineOf(task)],
    ['Verdicts', verdictsOf(task)],
    ['Cost', costOf(task)],
    ['Links', linksOf(task)],
  )
}

function outcomeOf(task: TaskMaterial, { actor }: EndEvent, nameOf: NameOf): string {
  const { state, agent, attempt, startedAt, completedAt, summary } = task
  const took = startedAt === null || completedAt === null ? '' : ` after ${span(completedAt - startedAt)}`
  const by = agent === null ? '' : `, by ${inLine(agent)}`
  const tried = attempt > 1 ? `, at attempt ${attempt}` : ''
  const words = stateWords(state)
  // Usually its own agent ends it.
  const ender = actor === `agent:${agent}` ? '' : ` Ended by ${whoDid(actor, nameOf)}.`
  const line = `**${words[0]!.toUpperCase()}${words.slice(1)}**${took}${by}${tried}.${ender}`
  return summary === null || summary.trim() === '' ? line : `${line}\n\n${quoted(summary)}`
}

function failuresOf({ state, error, failureClass, runs, attempts }: TaskMaterial): string {
  const because = failureWords(failureClass, error)
  const last =
    state === 'failed'
      ? [`The task failed${because === null ? '' : `: ${because}`}.`, quoted(error ?? 'No reason was given.')]
      : []
  const lost = attempts
    .filter(({ endReason }) => CLAIM_ENDS[endReason] !== 'released')
    .map(
      ({ generation, agent, endReason }) =>
        `- Attempt ${generation}: ${inLine(agent)} ${claimWords(endReason)}.`,
    )
  const failed = runs
    .filter(({ status }) => status === 'failed' || status === 'timed_out')
    .map(
      ({ id, agent, status, error: why }) =>
        `- A ${linkToRun(id)} of ${inLine(agent)} ${runWords(status)}${why === null ? '' : `: ${inLine(why)}`}.`,
    )
  const lines = [...lost, ...failed].join('\n')
  return [...last, ...(lines === '' ? [] : [lines])].join('\n\n')
}

const timelineOf = ({ createdAt, attempts, completedAt, state }: TaskMaterial) =>
  [
    `- ${moment(createdAt)}: created`,
    ...attempts.flatMap(({ generation, agent, acquiredAt, endedAt, endReason }) => [
      `- ${moment(acquiredAt)}: ${inLine(agent)} took it (attempt ${generation})`,
      `- ${moment(endedAt)}: ${inLine(agent)} ${claimWords(endReason)} (attempt ${generation})`,
    ]),
    `- ${moment(completedAt)}: ${stateWords(state)}`,
  ].join('\n')

const verdictsOf = ({ verdicts }: TaskMaterial) =>
  verdicts
    .map(({ taskId, generation, state, verifier, answer }) => {
      const about = `Attempt ${generation}, by ${verifier === null ? 'nobody' : inLine(verifier)} (${linkToTask(taskId, 'verification')})`
      const reading = answer === null ? null : readVerdict(answer)
      if (!reading?.ok) return `- ${about}: no verdict; the verification is ${stateWords(state)}.`
      const { verdict, score, feedback } = reading.verdict
      const said = feedback.trim() === '' ? '' : `: ${inLine(feedback.slice(0, 1_000).toWellFormed())}`
      return `- ${about}: **${verdict}**, score ${score}${said}`
    })
    .join('\n')

function costOf({ tokens, usd, isSimulated, estimatedTokens }: TaskMaterial): string {
  const estimate =
    estimatedTokens === null
      ? ''
      : `; ${counted(estimatedTokens)} were estimated${against(tokens, estimatedTokens)}`
  return `${counted(tokens)} tokens${estimate}. ${usd === null ? 'The price is not known.' : `${spentWords(usd, isSimulated)}.`}`
}

const linksOf = ({ uuid, runs }: TaskMaterial) =>
  [
    `- ${linkTo('Task', `/tasks/${uuid}`)}, its ${linkTo('results', `/tasks/${uuid}/results`)}`,
    ...runs.map(
      ({ id, agent, model, status }) =>
        `- ${linkToRun(id)} of ${inLine(agent)}${model === null ? '' : ` with ${inLine(model)}`}: ${runWords(status)}`,
    ),
  ].join('\n')
