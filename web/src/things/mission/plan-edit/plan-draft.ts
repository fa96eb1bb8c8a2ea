import { type Fault, readText, rewritten, writeText } from './plan-text.ts'
import type { Json } from './plan-value.ts'

/**
 * One plan while it is edited, as an outline and as text. Whichever was edited last is ahead, until the other has followed. A text
 * that cannot be read leaves the outline as it was, and takes no edits there: nothing that was written is lost. Pure.
 */
export interface PlanDraft {
  readonly plan: Json
  readonly text: string
  readonly ahead: 'outline' | 'text' | null
  /** Where the text cannot be read. */
  readonly fault: Fault | null
}

/** What is kept of it. */
export interface PlanEdit extends Pick<PlanDraft, 'plan' | 'text' | 'ahead'> {
  /** The version it began from; null: it is of no mission yet. */
  readonly version: number | null
}

export const draftFrom = (plan: Json): PlanDraft => ({
  plan,
  text: writeText(plan),
  ahead: null,
  fault: null,
})

export const draftFromText = (text: string): PlanDraft =>
  settled({ plan: { tasks: [] }, text, ahead: 'text', fault: null })

export const draftKept = ({ plan, text, ahead }: PlanEdit): PlanDraft =>
  settled({ plan, text, ahead: ahead ?? 'text', fault: null })

/** Typed in the text. */
export const typed = (draft: PlanDraft, text: string): PlanDraft =>
  text === draft.text ? draft : { ...draft, text, ahead: 'text' }

/** Edited in the outline. */
export function changed(draft: PlanDraft, change: (plan: Json) => Json): PlanDraft {
  const now = draft.ahead === 'text' ? settled(draft) : draft
  if (now.fault !== null) return now
  const plan = change(now.plan)
  return plan === now.plan ? now : { ...now, plan, ahead: 'outline' }
}

/** What was behind follows. */
export function settled(draft: PlanDraft): PlanDraft {
  const { plan, text, ahead } = draft
  if (ahead === null) return draft
  if (ahead === 'outline') return { ...draft, text: rewritten(text, plan), ahead: null }
  const read = readText(text)
  return 'fault' in read
    ? { ...draft, ahead: null, fault: read.fault }
    : { plan: read.plan, text, ahead: null, fault: null }
}

/** The text as the outline has it: what could not be read is given up. */
export const backToOutline = ({ plan }: PlanDraft): PlanDraft => draftFrom(plan)
