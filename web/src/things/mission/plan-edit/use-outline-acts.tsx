import { type ReactNode, useState } from 'react'
import { useShortcuts } from '../../../keys/shortcuts.ts'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { dependentsOf, withCopy, withNewTask, withoutTask, withTaskAt } from './plan-changes.ts'
import { type Json, nameOf, tasksIn } from './plan-value.ts'
import type { PlanDrafting } from './use-plan-draft.ts'

export interface OutlineActs {
  add: () => void
  copy: () => void
  remove: () => void
  /** Within its step, where it is seen. Null: there is nowhere to go. */
  up: (() => void) | null
  down: (() => void) | null
  /** To the task above or below, as they are shown. */
  go: (by: number) => void
  dialog: ReactNode
}

const MOST_NAMED = 5
const listed = (names: readonly string[]) => {
  const shown = names.slice(0, MOST_NAMED).map((name) => `“${name.slice(0, 60)}”`)
  const more = names.length - shown.length
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ')
}

/** What is done to the tasks of the outline, with its keys. */
export function useOutlineActs(props: {
  drafting: PlanDrafting
  at: number
  steps: readonly (readonly number[])[]
  onSelect: (at: number) => void
  isLocked: boolean
}): OutlineActs {
  const { drafting, at, steps, onSelect, isLocked } = props
  const { plan } = drafting.draft
  const [asked, setAsked] = useState<number | null>(null)
  const hasTask = at >= 0
  const shown = steps.flat()
  const step = steps.find((places) => places.includes(at)) ?? []
  const place = step.indexOf(at)
  /** Makes another plan, and goes to the task that it is about. */
  const make = (change: (plan: Json) => { plan: Json; at: number }) => {
    const made = change(plan)
    drafting.edit(() => made.plan)
    onSelect(made.at)
  }
  const removeAt = (gone: number) => {
    drafting.edit((before) => withoutTask(before, gone))
    onSelect(Math.max(0, Math.min(gone, tasksIn(plan).length - 2)))
  }
  const moveTo = (to: number | undefined) =>
    to === undefined ? null : () => make((before) => ({ plan: withTaskAt(before, at, to), at: to }))
  const acts = {
    add: () => make((before) => withNewTask(before, hasTask ? at : null)),
    copy: () => make((before) => withCopy(before, at)),
    remove: () => (dependentsOf(plan, at).length > 0 ? setAsked(at) : removeAt(at)),
    up: place > 0 ? moveTo(step[place - 1]) : null,
    down: place === -1 ? null : moveTo(step[place + 1]),
    go: (by: number) => {
      const next = shown[shown.indexOf(at) + by]
      if (next !== undefined) onSelect(next)
    },
  }
  const isOff = isLocked || !hasTask
  useShortcuts('Plan', {
    j: { words: 'Next task', run: () => acts.go(1), repeats: true, isOff: !hasTask },
    k: { words: 'Previous task', run: () => acts.go(-1), repeats: true, isOff: !hasTask },
    n: { words: 'Add a task', run: acts.add, isOff: isLocked },
    d: { words: 'Duplicate the task', run: acts.copy, isOff },
    Del: { words: 'Remove the task', run: acts.remove, isOff },
    'Alt+ArrowUp': { words: 'Move the task up', run: () => acts.up?.(), isOff: isOff || !acts.up },
    'Alt+ArrowDown': { words: 'Move the task down', run: () => acts.down?.(), isOff: isOff || !acts.down },
  })
  const waiting = asked === null ? [] : dependentsOf(plan, asked)
  const gone = asked === null ? undefined : tasksIn(plan)[asked]
  const dialog = gone && (
    <ConfirmDialog
      confirm="Remove the task"
      onClose={() => setAsked(null)}
      onConfirm={() => removeAt(asked!)}
      open
      text={`${waiting.length === 1 ? 'One task waits' : `${waiting.length} tasks wait`} for it, and will not any more: ${listed(waiting)}.`}
      title={`Remove “${nameOf(gone).slice(0, 100)}”?`}
    />
  )
  return { ...acts, dialog }
}
