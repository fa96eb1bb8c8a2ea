import type { HookDoes, HookScheme } from '../../../../src/kinds/hook/record.ts'
import { type Hook, listIn } from './words.ts'

/** A hook as it is written in the form. Pure. */

export interface HookDraft {
  name: string
  scheme: HookScheme
  secret: string
  kind: Hook['does']['kind']
  agent: string
  reason: string
  title: string
  description: string
  project: string
  routine: string
  /** Pointers, by the name of the variable. */
  variables: Record<string, string>
  events: string
  conditions: string
}

export const NEW_HOOK: HookDraft = {
  ...{ name: '', scheme: 'github', secret: '', kind: 'task', agent: '', reason: '' },
  ...{ title: 'Look at {{/issue/title}}', description: '', project: '', routine: '', variables: {} },
  ...{ events: '', conditions: '' },
}

export function draftOf({ name, scheme, does, events, conditions }: Hook): HookDraft {
  const own = {
    ...{ name, scheme, kind: does.kind, events: events.join(', ') },
    conditions: conditions.map(({ at, is }) => `${at} = ${is.join(', ')}`).join('\n'),
  }
  const base = { ...NEW_HOOK, title: '', ...own }
  if (does.kind === 'wake') return { ...base, agent: does.agent, reason: does.reason ?? '' }
  if (does.kind === 'routine') return { ...base, routine: does.routine, variables: { ...does.variables } }
  const { title, description, project, agent } = does
  return { ...base, title, description: description ?? '', project: project ?? '', agent: agent ?? '' }
}

function doesOf(draft: HookDraft, before: Hook | null): HookDoes {
  const { kind, agent, reason, title, description, project, routine, variables } = draft
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim())
  if (kind === 'wake') return { kind, agent, reason: orNull(reason) }
  if (kind === 'routine') {
    const given = Object.entries(variables).filter(([, pointer]) => pointer.trim() !== '')
    return { kind, routine, variables: Object.fromEntries(given.map(([name, one]) => [name, one.trim()])) }
  }
  // What the form does not show stays.
  const { taskType, priority, tags } =
    before?.does.kind === 'task' ? before.does : { taskType: null, priority: 5, tags: [] }
  return {
    ...{ kind, title: title.trim(), description: orNull(description), project: orNull(project) },
    ...{ agent: orNull(agent), taskType, priority, tags: [...tags] },
  }
}

const CONDITION = /^(\S*?)\s*=\s*(.+)$/

const linesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

export const wrongCondition = ({ conditions }: HookDraft): string | null => {
  const wrong = linesOf(conditions).find((line) => !CONDITION.test(line))
  return wrong === undefined ? null : `“${wrong}” is no condition; write /action = opened, reopened.`
}

export function settingsOf(draft: HookDraft, before: Hook | null) {
  const conditions = linesOf(draft.conditions).flatMap((line) => {
    const [, at, is] = CONDITION.exec(line) ?? []
    return at === undefined ? [] : [{ at, is: listIn(is!) }]
  })
  return { does: doesOf(draft, before), events: listIn(draft.events), conditions }
}

/** Why it cannot be saved yet. */
export function missingIn(draft: HookDraft): string | null {
  if (draft.name.trim() === '') return 'Its name is missing.'
  if (draft.kind === 'wake' && draft.agent === '') return 'Choose the agent that it wakes.'
  if (draft.kind === 'routine' && draft.routine === '') return 'Choose the routine that it starts.'
  if (draft.kind === 'task' && draft.title.trim() === '') return 'The title of the task is missing.'
  return wrongCondition(draft)
}
