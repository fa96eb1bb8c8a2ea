/** What people read in place of codes: one table for each kind of code. Sentences of events and the app use the same. */

type Words = Readonly<Record<string, string>>

/** A code in words; one that the table does not have is written with blanks. */
export const wordsOf = (table: Words, code: string): string =>
  Object.hasOwn(table, code) ? table[code]! : withBlanks(code)

/** A text that is nothing but a code, with blanks in it: `dependencies_met`. All other texts stay. */
export const withBlanks = (text: string): string =>
  /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(text) ? text.replaceAll('_', ' ') : text

/** Why an attempt failed, by the class of its failure. */
export const FAILURE_WORDS: Words = {
  infrastructure: 'the machine or a service failed',
  quality: 'the result was not good enough',
  rate_limited: 'the model’s limit was reached',
  timeout: 'it took too long',
  out_of_memory: 'it ran out of memory',
  budget: 'its budget is spent',
  human: 'a person stopped it',
  invalid: 'the task cannot be done as it is',
  dependency: 'a task that it depends on failed',
  cancelled: 'it was cancelled',
}

/** Why a task failed for good. */
export const FAILED_WORDS: Words = {
  ...FAILURE_WORDS,
  attempts: 'no attempt is left',
  generations: 'it was taken too often',
  deadline: 'its deadline passed',
  rejected: 'a person rejected the result',
  dependency_cycle: 'tasks wait for each other',
  part: 'one of its parts failed',
}

/** Who or what woke an agent. */
export const WAKEUP_WORDS: Words = {
  timer: 'by its timer',
  assignment: 'for a task',
  on_demand: 'by hand',
  automation: 'automatically',
}

/** How a run ended. */
export const RUN_END_WORDS: Words = {
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'was stopped',
  timed_out: 'took too long',
}

/** What the watchdog noticed about a run. */
export const FLAG_WORDS: Words = {
  loop_detected: 'repeats itself',
  stalled: 'is silent',
  no_progress: 'makes no progress',
}

/** What waits for a person, by its kind in the inbox. */
export const WAITING_WORDS: Words = {
  plan: 'A plan waits for approval',
  question: 'A question waits for an answer',
  review: 'A result waits for review',
  budget: 'A budget is spent',
  dead_letter: 'A task has no attempts left',
  outcome: 'The outcome of a mission waits for acceptance',
  agent: 'An agent is in error',
  alert: 'No agent takes a task',
  finished: 'A mission has ended',
}

/** Who acted, where only the actor is known and not their name. */
export function actorWords(actor: string): string {
  if (actor === 'system') return 'Baton'
  const [, kind, name] = /^([a-z_]+):(.+)$/.exec(actor) ?? []
  return kind === undefined ? actor : kind === 'agent' ? name! : 'a person'
}

/** The programs that agents run. */
export const ADAPTER_WORDS: Words = {
  claude_local: 'Claude Code',
  codex_local: 'Codex',
  gemini_local: 'Gemini',
  opencode_local: 'OpenCode',
  process: 'A program of your own',
  http: 'HTTP requests',
  external: 'Claims its work itself',
  simulated: 'Simulated',
}
