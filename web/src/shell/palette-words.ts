import { statesFor } from '../../../src/kinds/task/rules/allowed-acts.ts'
import type { SearchAnswer } from '../requests/search.ts'

/** What the words in the palette mean. Pure. */

export type Hit = SearchAnswer['items'][number]

/** Every word that was typed is a part of it. */
export const fits = (words: string, typed: string) => {
  const text = words.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((part) => text.includes(part))
}

export type Verb = 'pause' | 'resume' | 'retry'

/** "pause dev-1": what is to be done, and what is looked for. Null: the text names no act. */
export function verbIn(typed: string): { verb: Verb; rest: string } | null {
  const [, verb, rest] = /^(pause|resume|retry)\s+(\S.*)$/i.exec(typed.trim()) ?? []
  return verb && rest ? { verb: verb.toLowerCase() as Verb, rest } : null
}

const MISSIONS: Record<Verb, readonly string[]> = {
  pause: ['pending', 'planning', 'awaiting_approval', 'running', 'budget_exceeded'],
  resume: ['paused'],
  retry: ['failed', 'running'],
}
const AGENTS: Record<Verb, readonly string[]> = {
  pause: ['idle', 'running', 'offline'],
  resume: ['paused', 'error'],
  retry: [],
}

/** Whether its state lets it be paused, resumed or retried. */
export function canBe(verb: Verb, { kind, state }: Pick<Hit, 'kind' | 'state'>): boolean {
  if (kind === 'mission') return MISSIONS[verb].includes(state)
  if (kind === 'agent') return AGENTS[verb].includes(state)
  return kind === 'task' && (statesFor(verb) as readonly string[]).includes(state)
}

/** "#1042", or its key: what people call a task. */
export const nameOfHit = ({ key, number }: Pick<Hit, 'key' | 'number'>) =>
  key ?? (number === null ? null : `#${number}`)

/** The act and its object: "Pause dev-1", "Retry the failed tasks of Migrate billing". */
export function actWords(verb: Verb, hit: Hit): string {
  const name = hit.kind === 'agent' ? hit.id : hit.title
  const words = { pause: 'Pause', resume: 'Resume', retry: 'Retry' }[verb]
  return hit.kind === 'mission' && verb === 'retry' ? `Retry the failed tasks of ${name}` : `${words} ${name}`
}
