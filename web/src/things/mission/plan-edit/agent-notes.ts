import type { AnswerTo } from '../../../../../src/client/client.ts'
import { isOwnAgent } from '../../agent/own-agent.ts'
import { type Json, listIn, recordIn, textIn } from './plan-value.ts'

/** Whom a task names, against the agents that there are. Pure. */

export type Agent = Pick<AnswerTo<'GET', '/agents'>['items'][number], 'slug' | 'state' | 'capabilities'>

export interface Roster {
  readonly agents: readonly Agent[]
  /** Not all agents were read: one that is missing may exist. */
  readonly isCut: boolean
}

export const EMPTY_ROSTER: Roster = { agents: [], isCut: true }

/** Those that can be chosen. */
export const choosable = ({ agents }: Roster) =>
  agents.filter(({ slug, state }) => state !== 'terminated' && !isOwnAgent(slug))

const STATE_NOTES: Partial<Record<Agent['state'], string>> = {
  paused: 'is paused',
  offline: 'is offline',
  error: 'is in error',
  terminated: 'is no longer here',
}

/** "idle" says nothing that helps to choose. */
export const agentOption = ({ slug, state }: Agent) => {
  const note = STATE_NOTES[state]
  return { value: slug, words: note ? `${slug}, ${note.replace(/^is /, '')}` : slug }
}

/** Why this agent may not do its part; null: nothing is known against it. */
export function agentNote(slug: string, { agents, isCut }: Roster): string | null {
  if (slug === '') return null
  const found = agents.find((agent) => agent.slug === slug)
  if (!found) return isCut ? null : `There is no agent “${slug}”.`
  const note = STATE_NOTES[found.state]
  return note ? `${slug} ${note}.` : null
}

function capabilityNote(task: Json, { agents, isCut }: Roster): string | null {
  const needed = listIn(task, 'capabilities')
  if (needed.length === 0 || textIn(task, 'agent') !== '' || isCut) return null
  const able = agents.filter(
    ({ state, capabilities }) => state !== 'terminated' && needed.every((one) => capabilities.includes(one)),
  )
  const listed = needed.map((one) => `“${one}”`).join(' and ')
  return able.length === 0 ? `No agent has the capability ${listed}.` : null
}

export interface AgentNote {
  readonly field: 'agent' | 'preferredAgent' | 'verification' | 'capabilities'
  readonly words: string
}

/** What to know before this task is handed out; it may be planned all the same. */
export function notesOf(task: Json, roster: Roster): AgentNote[] {
  const notes = [
    ['agent', agentNote(textIn(task, 'agent').trim(), roster)],
    ['preferredAgent', agentNote(textIn(task, 'preferredAgent').trim(), roster)],
    ['verification', agentNote(textIn(recordIn(task, 'verification'), 'agent').trim(), roster)],
    ['capabilities', capabilityNote(task, roster)],
  ] as const
  return notes.flatMap(([field, words]) => (words === null ? [] : [{ field, words }]))
}
