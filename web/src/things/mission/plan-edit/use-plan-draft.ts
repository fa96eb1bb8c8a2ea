import { useCallback, useEffect, useRef, useState } from 'react'
import { draftOf, dropDraft, keepDraft } from '../../../parts/drafts.ts'
import { changed, draftKept, type PlanDraft, type PlanEdit, settled, typed } from './plan-draft.ts'
import type { Json } from './plan-value.ts'

/** Reading and writing a long text takes a while: not between two keystrokes. */
const LONG_TEXT = 60_000
const settleMsOf = ({ text }: PlanDraft) => (text.length > LONG_TEXT ? 800 : 300)

/** A plan that is edited, kept under a name until it is dropped: it outlives tabs, reloads and going back. */
export function usePlanDraft(name: string, version: number | null, begin: () => PlanDraft) {
  const [kept] = useState(() => draftOf<PlanEdit>(name))
  const [draft, setDraft] = useState(() => (kept ? draftKept(kept) : begin()))
  const [isEdited, setIsEdited] = useState(kept !== undefined)
  const state = useRef({ draft, name, version: kept ? kept.version : version, isEdited, timer: 0 })

  const keep = useCallback(() => {
    const { draft: now, name: as, version: from } = state.current
    keepDraft<PlanEdit>(as, { version: from, plan: now.plan, text: now.text, ahead: now.ahead })
  }, [])
  const settle = useCallback(() => {
    const now = state.current
    window.clearTimeout(now.timer)
    now.timer = 0
    const next = settled(now.draft)
    if (next === now.draft) return
    now.draft = next
    setDraft(next)
    // One that was dropped elsewhere stays dropped.
    if (now.isEdited && draftOf(now.name) !== undefined) keep()
  }, [keep])
  const set = useCallback(
    (next: (before: PlanDraft) => PlanDraft) => {
      const now = state.current
      const after = next(now.draft)
      if (after === now.draft) return
      now.draft = after
      setDraft(after)
      window.clearTimeout(now.timer)
      now.timer = window.setTimeout(settle, settleMsOf(after))
      if (now.isEdited) return
      // The first edit at once: from then on nothing may be approved.
      now.isEdited = true
      setIsEdited(true)
      keep()
    },
    [keep, settle],
  )
  useEffect(() => {
    const flush = () => {
      if (state.current.timer !== 0) settle()
    }
    window.addEventListener('pagehide', flush)
    return () => {
      window.removeEventListener('pagehide', flush)
      flush()
    }
  }, [settle])

  const edit = useCallback((change: (plan: Json) => Json) => set((before) => changed(before, change)), [set])
  const type = useCallback((text: string) => set((before) => typed(before, text)), [set])
  /** Nothing is kept, and nothing will be: the editor is closed after it. */
  const drop = useCallback(() => {
    window.clearTimeout(state.current.timer)
    Object.assign(state.current, { timer: 0, isEdited: false })
    dropDraft(state.current.name)
    setIsEdited(false)
  }, [])
  /** Also what was edited in this very moment. */
  const latest = useCallback(() => state.current.draft, [])
  return { draft, latest, isEdited, edit, type, set, settle, drop, version: state.current.version }
}

export type PlanDrafting = ReturnType<typeof usePlanDraft>
