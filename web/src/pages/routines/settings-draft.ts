import { draftOfSchedule, newSchedule, type ScheduleDraft, scheduleOfDraft } from './schedule-draft.ts'
import type { Routine } from './use-routines.ts'
import { rowProblems, rowsOf, schemaOf, type VariableRow } from './variables.ts'

/** The settings of a routine as a form has them, and what it sends. Pure. */

export interface Settings {
  name: string
  title: string
  goal: string
  schedule: ScheduleDraft
  variables: readonly VariableRow[]
}

/** What is written and not saved, and the settings it was made from. */
export interface Edited {
  base: Settings
  now: Settings
}

/** `zone`: of the reader, for a routine that has no schedule yet. */
export const settingsOf = (routine: Routine, zone: string): Settings => ({
  name: routine.name,
  title: routine.title,
  goal: routine.goal,
  schedule: routine.schedule === null ? newSchedule(zone) : draftOfSchedule(routine.schedule),
  variables: rowsOf(routine.variables),
})

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

export const isChangedElsewhere = (edited: Edited | null, saved: Settings) =>
  edited !== null && !isSame(edited.base, saved)

/** After a change; null: it is as it is saved. */
export function editedBy(before: Edited | null, saved: Settings, part: Partial<Settings>): Edited | null {
  const base = before?.base ?? saved
  const now = { ...(before?.now ?? saved), ...part }
  return isSame(now, base) && isSame(base, saved) ? null : { base, now }
}

/** The fields that differ from what is saved. */
export function patchOf(saved: Settings, now: Settings) {
  const schedule = scheduleOfDraft(now.schedule)
  return {
    ...(now.name === saved.name ? {} : { name: now.name.trim() }),
    ...(now.title === saved.title ? {} : { title: now.title.trim() }),
    ...(now.goal === saved.goal ? {} : { goal: now.goal.trim() }),
    ...(isSame(schedule, scheduleOfDraft(saved.schedule)) ? {} : { schedule }),
    ...(isSame(now.variables, saved.variables) ? {} : { variables: schemaOf(now.variables) }),
  }
}

/** Why it cannot be saved yet. */
export function missingIn({ name, title, goal, variables }: Settings): string | null {
  if (name.trim() === '') return 'A routine needs a name.'
  if (title.trim() === '') return 'Its missions need a title.'
  if (goal.trim() === '') return 'Its missions need a goal.'
  return rowProblems(variables).find((problem) => problem !== null) ?? null
}
