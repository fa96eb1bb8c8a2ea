import type { LiveEvent } from '../../../live/card.ts'
import { REVIEW_REQUIRED } from '../../../things/task/card-words.ts'

/** The pieces of a sentence about an event. Pure. */

/** Text, or something that is drawn as a link. */
export type Part = string | { agent: string } | { person: string } | typeof THE_TASK

/** The task of the event, by number and title. */
export const THE_TASK = { task: true } as const

export const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null

/** A key acts for a person. */
export const isPerson = ({ by }: LiveEvent) => by.kind === 'key'

/** Who did it: a person, an agent, or Baton. */
export function who({ by }: LiveEvent): Part[] {
  if (by.kind === 'agent') return [{ agent: by.id ?? by.name ?? 'an agent' }]
  if (by.kind === 'key') return [{ person: by.name ?? 'A person' }]
  return [by.kind === 'other' ? (by.name ?? 'Baton') : 'Baton']
}

/** The agent that the event names, or that caused it. */
export function agentOf(event: LiveEvent): Part {
  const agent = textOf(event.payload.agent)
  return agent === null ? (who(event)[0] ?? 'Baton') : { agent }
}

/** Reasons that the server gives as codes. */
const CODES: Record<string, string> = {
  attempts: 'No attempts are left.',
  generations: 'It was given to agents too often.',
  dependency_failed: 'A task that it waits for failed.',
  'a task it depends on is failed': 'A task that it waits for failed.',
  question: '',
  // The sentence says that already.
  [REVIEW_REQUIRED]: '',
  human: '',
  verification: 'Its result did not pass the verification.',
}

/** The text, unless it is a code: one without words says nothing to a reader. */
export function codeInWords(text: string): string | null {
  if (Object.hasOwn(CODES, text)) return CODES[text] || null
  return /^[a-z0-9]+(_[a-z0-9]+)+$/i.test(text) ? null : text
}

/** The task that an event is about, also of a run. */
export const taskOf = ({ taskId, payload }: LiveEvent): string | null => taskId ?? textOf(payload.taskId)
