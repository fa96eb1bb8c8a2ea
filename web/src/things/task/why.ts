import { causeOf } from '../../../../src/pure/cause.ts'
import { FAILURE_WORDS, wordsOf } from '../../../../src/pure/code-words.ts'
import { reasonText } from '../../parts/wording.ts'
import { shortKey } from '../../requests/act-words.ts'
import { REVIEW_REQUIRED } from './card-words.ts'
import { whyNotTaken } from './eligible.ts'
import type { Neighbour, ShownTask, Task } from './use-task.ts'

/** Why a task is in its state, and what changes that next. Each state that does not move names both. Pure. */

interface WhyAndNext {
  readonly why: string | null
  /** `at`: counted down behind the words. */
  readonly next: { readonly words: string; readonly at: number | null } | null
  /** The agent that has to be resumed first. */
  readonly resume?: string | null
}

const next = (words: string, at: number | null = null) => ({ words, at })

/** A name as people say it: the key, or the title when there is none. */
const nameOf = ({ key, title }: { key: string | null; title: string }) =>
  key === null ? `“${title}”` : shortKey(key)

const OPEN_ENDS: readonly string[] = ['completed', 'failed', 'cancelled', 'skipped']
export const openOf = (neighbours: readonly Neighbour[]) =>
  neighbours.filter(({ state }) => !OPEN_ENDS.includes(state))

/** “B-002”, “B-002 and B-009”, “B-002, B-009 and 3 more”. */
function listed(names: readonly string[]): string {
  if (names.length <= 1) return names[0] ?? ''
  if (names.length === 2) return `${names[0]} and ${names[1]}`
  return `${names[0]}, ${names[1]} and ${names.length - 2} more`
}

/** What the last attempt failed with, as a part of a sentence: the cause, and not the command with its path or the trace. */
function failure(task: Task): string | null {
  const { error, failureClass } = task
  if (error === null && failureClass === null) return null
  const cause = error ? causeOf(error) : null
  // How it ended is our sentence, and what it said its own.
  const isHow = cause !== null && cause !== error && cause.startsWith('It ')
  const said = cause && (isHow ? `it ${cause.slice('It '.length)}` : `“${cause}”`)
  return [classWords(task, cause), said].filter(Boolean).join(': ')
}

/** A program that exits with an error is no machine that fails: its code, or its error alone, says more. */
function classWords({ failureClass, exitCode }: Task, cause: string | null): string | null {
  if (failureClass === null) return null
  if (failureClass !== 'infrastructure' || (cause === null && exitCode === null))
    return wordsOf(FAILURE_WORDS, failureClass)
  return exitCode === null || exitCode === 0 || /exited with code|killed by|timeout/.test(cause ?? '')
    ? null
    : `it exited with code ${exitCode}`
}

const verifierOf = ({ verification, verifications }: Task) =>
  verification?.kind === 'human'
    ? 'a person'
    : verification?.kind === 'baton'
      ? 'Baton’s own check'
      : (verifications.at(-1)?.verifier ?? 'another agent')

const afterResult = (task: Task) =>
  task.verification === null
    ? 'done when its result comes in'
    : `its result, then verification by ${verifierOf(task)}`

function waiting(task: Task, now: ShownTask): WhyAndNext {
  const open = openOf(task.blockedBy)
  if (open.length > 0)
    return {
      why: `waiting for ${listed(open.map(nameOf))}`,
      next: next(
        task.triggerRule === 'all_success' || task.triggerRule === null
          ? `queued when ${open.length === 1 ? 'it is' : `all ${open.length} are`} done`
          : `queued as its rule “${task.triggerRule.replaceAll('_', ' ')}” is met`,
      ),
    }
  if (now.dueAt !== null) return { why: 'scheduled for later', next: next('queued in', now.dueAt) }
  return { why: 'waiting for its parts', next: next('queued when they have ended') }
}

function queued(task: Task, now: ShownTask): WhyAndNext {
  const wanted = { agent: now.agent, capabilities: task.requiredCapabilities }
  const not = task.eligible && whyNotTaken(wanted, task.eligible)
  if (not) return { why: not.why, next: next(not.next), resume: not.resume }
  const needs =
    task.requiredCapabilities.length > 0 ? ` that can ${task.requiredCapabilities.join(', ')}` : ''
  const who = now.agent ?? `an agent${needs}`
  const failed = failure(task)
  return {
    why: failed ? `retried after ${failed}` : 'ready, not taken yet',
    next: next(`taken by ${who} as soon as ${now.agent ? 'it' : 'one'} is free`),
  }
}

function held(task: Task, now: ShownTask): WhyAndNext {
  const failed = now.attempt > 1 ? failure(task) : null
  const verdict = task.verifications.at(-1)
  const why =
    now.attempt > 1 && verdict?.verdict === 'fail'
      ? `retried after a verdict${verdict.score === null ? '' : ` of ${verdict.score}`}${verdict.feedback ? `: “${verdict.feedback}”` : ''}`
      : failed
        ? `retried after ${failed}`
        : null
  if (now.state === 'assigned')
    return { why: why ?? `taken by ${now.holder?.agent ?? 'an agent'}`, next: next('its start') }
  return { why: why ?? `running on ${now.holder?.agent ?? 'an agent'}`, next: next(afterResult(task)) }
}

function needsPerson(task: Task, now: ShownTask): WhyAndNext {
  if (now.awaits === 'question')
    return {
      why: `a question from ${task.question?.askedBy ?? 'its agent'} is waiting for you`,
      next: next('queued again with your answer'),
    }
  const given = task.awaits?.reason ?? null
  const because = given === null || given === REVIEW_REQUIRED ? null : reasonText(causeOf(given))
  if (now.resultDigest !== null)
    return {
      why: because ? `its result is waiting for you: ${because}` : 'its result is waiting for your review',
      next: next('done if you approve, retried if you reject'),
    }
  return {
    why: because ?? failure(task) ?? 'waiting for a person',
    next: next('retry it, complete it by hand, or cancel it'),
  }
}

function failed(task: Task, now: ShownTask): WhyAndNext {
  const spent =
    now.attempt > task.maxRetries
      ? task.maxRetries === 0
        ? ' Its only attempt is spent.'
        : ` All ${task.maxRetries + 1} attempts are spent.`
      : ''
  const blocked = openOf(task.blocks).length
  return {
    why: `${failure(task) ?? 'its last attempt failed'}.${spent}`.replace('..', '.'),
    next: next(
      `nothing until you retry it or complete it by hand${blocked > 0 ? `. It blocks ${blocked} ${blocked === 1 ? 'task' : 'tasks'}` : ''}`,
    ),
  }
}

/** `now` is the task with what happened since it was read. */
export function whyAndNext(task: Task, now: ShownTask): WhyAndNext {
  switch (now.state) {
    case 'pending':
      return waiting(task, now)
    case 'queued':
      return queued(task, now)
    case 'awaiting_retry':
      return { why: failure(task) ?? 'its last attempt failed', next: next('retried in', now.dueAt) }
    case 'assigned':
    case 'running':
    case 'continuing':
      return held(task, now)
    case 'verifying':
      return {
        why: `being verified by ${verifierOf(task)}`,
        next: next('done if it passes, retried if it fails'),
      }
    case 'awaiting_human':
      return needsPerson(task, now)
    case 'paused':
      return { why: 'a person paused it', next: next('nothing until it is resumed') }
    case 'budget_exceeded':
      return { why: 'its budget is spent', next: next('continues when its budget is raised') }
    case 'failed':
      return failed(task, now)
    case 'cancelled':
      return {
        why: task.error ?? 'it was cancelled',
        next: next('nothing, unless it is put back in the queue'),
      }
    case 'skipped':
      return {
        why: task.error ?? 'it was skipped',
        next: next('nothing, unless it is put back in the queue'),
      }
    case 'completed':
      return { why: null, next: null }
  }
}
