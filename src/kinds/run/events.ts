import { z } from 'zod'
import { FLAG_WORDS, RUN_END_WORDS, WAKEUP_WORDS, withBlanks, wordsOf } from '../../pure/code-words.ts'
import { eventsAbout, text } from '../../pure/event.ts'
import { count, moment, why } from '../../pure/words.ts'
import { agentEvent } from '../agent/events.ts'
import { runErrorWords } from './rules/outcomes.ts'
import { SKIP_REASONS } from './rules/wakeups.ts'

const runEvent = eventsAbout(
  { entity: 'run', namedIn: 'runId' },
  { runId: text, agent: text, taskId: text.nullable() },
)
const wakeupEvent = eventsAbout(
  { entity: 'wakeup', namedIn: 'wakeupId' },
  { agent: text, wakeupId: text, source: text, reason: text.nullable(), taskId: text.nullable() },
)

const skipWords = (because: string) =>
  Object.hasOwn(SKIP_REASONS, because)
    ? SKIP_REASONS[because as keyof typeof SKIP_REASONS]
    : withBlanks(because)

const tokens = {
  inputTokens: z.int().nullable(),
  cachedInputTokens: z.int().nullable(),
  outputTokens: z.int().nullable(),
}
/** All runs of the task together, after this one; null where it is not known. Without a task, nothing. */
const spentOnTask = {
  taskTokens: z.int().optional(),
  taskCostUsd: text.nullable().optional(),
  /** Its agent is simulated, and nobody pays that. */
  isSimulated: z.boolean().optional(),
}

/** Events of runs, wakeups, and the runtime state of agents. */
export const runEvents = {
  run_queued: runEvent.debug(
    { source: text, reason: text.nullable() },
    ({ agent, source }) => `A run of ${agent} is queued (${wordsOf(WAKEUP_WORDS, source)}).`,
  ),
  run_started: runEvent.info(
    { attempt: z.int().nullable(), generation: z.int().nullable() },
    ({ agent, attempt }) => `A run of ${agent} started${attempt === null ? '' : ` (attempt ${attempt})`}.`,
  ),
  run_status: runEvent.debug(
    { message: text, color: text },
    ({ agent, message }) => `${agent} says${why(message)}.`,
  ),
  run_cancel_requested: runEvent.info(
    { reason: text },
    ({ agent, reason }) => `A stop of the run of ${agent} was requested${why(reason)}.`,
  ),
  run_flagged: runEvent.warn(
    { code: text, detail: text },
    ({ agent, code, detail }) => `The run of ${agent} ${wordsOf(FLAG_WORDS, code)}${why(detail)}.`,
  ),
  run_finished: runEvent.info(
    {
      status: text,
      errorCode: text.nullable(),
      exitCode: z.int().nullable(),
      ...tokens,
      costUsd: text.nullable(),
      logTruncated: z.boolean(),
      /** Time since it began; null: it did not. */
      durationMs: z.int().nullable().optional(),
      model: text.nullable().optional(),
      provider: text.nullable().optional(),
      ...spentOnTask,
    },
    ({ agent, status, errorCode, exitCode }) =>
      `The run of ${agent} ${wordsOf(RUN_END_WORDS, status)}${why(errorCode && runErrorWords(errorCode, exitCode))}.`,
  ),
  /** Usage while it runs, every five seconds at most. */
  run_usage: runEvent.debug(
    { ...tokens, ...spentOnTask },
    ({ agent, taskTokens = 0 }) => `The runs of the task of ${agent} have used ${taskTokens} tokens.`,
  ),
  wakeup_requested: wakeupEvent.debug(
    {},
    ({ agent, source, reason }) =>
      `A wakeup of ${agent} was requested ${wordsOf(WAKEUP_WORDS, source)}${why(reason)}.`,
  ),
  wakeup_coalesced: wakeupEvent.debug(
    { into: text },
    ({ agent, source }) =>
      `A wakeup of ${agent} was merged into a pending one (${wordsOf(WAKEUP_WORDS, source)}).`,
  ),
  wakeup_skipped: wakeupEvent.info(
    { because: text },
    ({ agent, source, because }) =>
      `${agent} was not woken ${wordsOf(WAKEUP_WORDS, source)}${why(skipWords(because))}.`,
  ),
  runtime_state_updated: agentEvent.debug(
    { runs: z.int(), lastRunId: text, lastRunStatus: text },
    ({ agent, runs }) => `${agent} has had ${count(runs, 'run')}.`,
  ),
  runtime_state_reset: agentEvent.info(
    { sessions: z.int() },
    ({ agent, sessions }) => `The state of ${agent} was reset (${count(sessions, 'session')} deleted).`,
  ),
  credential_parked: agentEvent.warn(
    { agents: z.int(), until: z.number(), model: text.optional() },
    ({ agents, until }) => `The model rate limits ${count(agents, 'agent')} until ${moment(until)}.`,
  ),
}

type RunEvents = typeof runEvents
declare module '../events.ts' {
  interface Catalogue extends RunEvents {}
}
