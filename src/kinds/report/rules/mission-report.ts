import { causeOf } from '../../../pure/cause.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import { taskCount } from '../../mission/rules/counts.ts'
import { costText, knownCost, spentWords } from '../../mission/rules/spending.ts'
import {
  against,
  counted,
  inLine,
  linkTo,
  linkToTask,
  moment,
  quoted,
  sections,
  span,
  wordsInLine,
} from './markdown.ts'
import type { EndEvent, MissionMaterial } from './material.ts'
import {
  countsWords,
  eventWords,
  failureWords,
  type NameOf,
  phaseWords,
  stateWords,
  whoDid,
} from './words.ts'

/** The report on a mission that has ended: its outcome first. */

/** How many of its tasks a report names. */
export const MOST_TASKS = 500
const MOST_FAILURES = 100

export function missionReport(
  material: MissionMaterial,
  ended: EndEvent,
  nameOf: NameOf = () => null,
): string {
  const { mission } = material
  return sections(
    [null, `# ${inLine(mission.title)}`],
    ['Outcome', outcomeOf(material, ended, nameOf)],
    ['Failures', failuresOf(material)],
    ['Goal', quoted(mission.goal)],
    ['Timeline', timelineOf(material, nameOf)],
    ['Verdicts', verdictsOf(material)],
    ['Cost', costOf(material)],
    ['Tasks', tasksOf(material)],
    ['Links', linksOf(material)],
  )
}

function outcomeOf({ mission }: MissionMaterial, { actor }: EndEvent, nameOf: NameOf): string {
  const { phase, counts, startedAt, completedAt, error } = mission
  const took = startedAt === null || completedAt === null ? '' : ` after ${span(completedAt - startedAt)}`
  const states = countsWords(counts.byState)
  const all = taskCount(counts)
  const tasks = `${all} ${all === 1 ? 'task' : 'tasks'}${states === '' ? '' : `: ${states}`}`
  const line = `**${phaseWords(phase)}**${took}, ended by ${whoDid(actor, nameOf)}. ${tasks}.`
  return error === null ? line : `${line}\n\n${quoted(error)}`
}

function failuresOf({ tasks, mission }: MissionMaterial): string {
  const failed = tasks.filter(({ state }) => state === 'failed')
  const shown = failed.slice(0, MOST_FAILURES).map(({ uuid, title, optional, failureClass, error }) => {
    const because = failureWords(failureClass, error)
    const how = [optional ? 'optional' : null, because].filter((one) => one !== null)
    const about = `- ${linkToTask(uuid, title)}${how.length === 0 ? '' : ` (${how.join(', ')})`}`
    // The cause in a line: the task has all that was said.
    const cause = error === null ? null : causeOf(error)
    return cause === null || cause.toLowerCase() === because ? about : `${about}: ${inLine(cause)}`
  })
  const more = (mission.counts.byState.failed ?? 0) - shown.length
  return [...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

const timelineOf = ({ timeline, mission }: MissionMaterial, nameOf: NameOf) =>
  timeline.length === 0
    ? `- ${moment(mission.createdAt)}: Mission created`
    : timeline
        .map(({ at, type, actor }) => `- ${moment(at)}: ${eventWords(type)}, by ${whoDid(actor, nameOf)}`)
        .join('\n')

function verdictsOf({ verdicts }: MissionMaterial): string {
  const { passed, failed, approved, rejected } = verdicts
  if (passed + failed + approved + rejected === 0) return ''
  return `Verifiers passed ${passed} results and sent ${failed} back. People approved ${approved} and rejected ${rejected}.`
}

function costOf({ mission, isSimulated }: MissionMaterial): string {
  const { counts, plan, config } = mission
  const tokens = `${counted(counts.tokens)} tokens`
  const estimate =
    plan === null
      ? ''
      : `; ${counted(plan.estimatedTokens)} were estimated${against(counts.tokens, plan.estimatedTokens)}`
  const usd = plan?.estimatedUsd ?? null
  const price =
    usd === null
      ? ''
      : `; $${usd} was estimated${counts.unknownRuns > 0 ? '' : against(Number(counts.usd), Number(usd))}`
  const { maxUsd, maxTokens } = config.budget ?? {}
  const limits = [maxUsd && `$${maxUsd}`, maxTokens && `${counted(maxTokens)} tokens`].filter(Boolean)
  const budget = limits.length === 0 ? '' : `\nThe budget was ${limits.join(' and ')}.`
  return `${tokens}${estimate}.\n${knownCost(counts) === null ? 'The cost is not known' : costText(counts, isSimulated)}${price}.${budget}`
}

function tasksOf({ tasks, mission }: MissionMaterial): string {
  if (tasks.length === 0) return ''
  const lines = tasks.map(({ uuid, title, state, agent, attempt, tokens, usd, isSimulated, summary }) => {
    const who = agent === null ? '' : `, ${inLine(agent)}`
    const tried = attempt > 1 ? `, ${attempt} attempts` : ''
    const cost =
      tokens === 0
        ? ''
        : `, ${counted(tokens)} tokens${usd === null ? '' : `, ${spentWords(usd, isSimulated)}`}`
    const said =
      summary === null || summary.trim() === ''
        ? ''
        : `: ${wordsInLine(summary.slice(0, 300).toWellFormed())}`
    return `- ${linkToTask(uuid, title)}: ${stateWords(state)}${who}${tried}${cost}${said}`
  })
  const more = taskCount(mission.counts) - tasks.length
  return [...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}

const linksOf = ({ mission: { uuid } }: MissionMaterial) =>
  [
    `- ${linkTo('Mission', `/missions/${uuid}`)}`,
    `- ${linkTo('Tasks', `/missions/${uuid}/tasks`)}`,
    `- ${linkTo('Plan', `/missions/${uuid}/plan`)}`,
    `- ${linkTo('Events', `/missions/${uuid}/events`)}`,
    `- ${linkTo('Reports', `/missions/${uuid}/reports`)}`,
  ].join('\n')

const LONGEST_PROMPT_SUMMARY = 1_000

/** What the agent that reports on a mission is asked. */
export function reportingText(material: MissionMaterial): string {
  const { mission, tasks } = material
  const states = Object.entries(mission.counts.byState).map(([state, count]) => `${count} ${state}`)
  const lines = tasks.map(({ uuid, title, state, summary, error }) => {
    const said = state === 'failed' ? error : summary
    return `- #${idCarriedBy(uuid) ?? ''} ${title} (${state}, task ${uuid})${said === null ? '' : `: ${said.slice(0, LONGEST_PROMPT_SUMMARY).toWellFormed()}`}`
  })
  const more = taskCount(mission.counts) - tasks.length
  return [
    'Report on a mission that has ended. Do no work on it: your result is the report, which people read.',
    `## The goal\n\n${mission.goal}`,
    `## The outcome\n\nThe mission is ${mission.phase}${mission.error === null ? '' : `: ${mission.error}`}. Tasks: ${states.join(', ') || 'none'}. It used ${mission.counts.tokens} tokens and $${mission.counts.usd}.`,
    `## Its tasks\n\n${[...lines, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n') || 'None.'}`,
    '## Your answer\n\nThe report in Markdown, and nothing around it: what came of the goal first, then what failed and why, what it cost, and what is left to do. Name tasks by their numbers and titles. Leave out keys, passwords and other secrets.',
  ].join('\n\n')
}
