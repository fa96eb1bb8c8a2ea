import { type KeyboardEvent, type PointerEvent, useRef, useState } from 'react'
import type { Span } from '../../../graphs/folded-time.ts'

/** Shorter is a click, and not a stretch. */
const LEAST_DRAG_PX = 4
const STEP_SHARE = 0.02
const PAGE_SHARE = 0.1

interface Selection {
  /** Where it began, and where it is now. */
  anchor: number
  mark: number
}

/** Where a key moves the mark to; null: it is not of the mark. */
function movedBy(key: string, mark: number): number | null {
  const places: Record<string, number> = {
    ArrowLeft: mark - STEP_SHARE,
    ArrowRight: mark + STEP_SHARE,
    PageUp: mark - PAGE_SHARE,
    PageDown: mark + PAGE_SHARE,
    Home: 0,
    End: 1,
  }
  return places[key] ?? null
}

/**
 * A stretch of the strip, chosen by drawing over it or by keys: arrows move the mark, with Shift they draw the stretch, Enter shows it,
 * Esc gives it up, and then shows all. In shares of the width, from 0 to 1.
 */
export function useBrush(given: { width: number; onShow: (share: Span) => void; onWhole: () => void }) {
  const { width, onShow, onWhole } = given
  const [selection, setSelection] = useState<Selection | null>(null)
  const [mark, setMark] = useState(0.5)
  const drag = useRef<{ left: number; anchor: number } | null>(null)
  const shareAt = (clientX: number, left: number) => Math.min(1, Math.max(0, (clientX - left) / width))
  const chosen = selection && {
    from: Math.min(selection.anchor, selection.mark),
    to: Math.max(selection.anchor, selection.mark),
  }
  const show = (share: Span) => {
    setSelection(null)
    onShow(share)
  }
  const moveTo = (next: number, isDrawn: boolean) => {
    const at = Math.min(1, Math.max(0, next))
    setMark(at)
    setSelection(isDrawn ? { anchor: selection?.anchor ?? mark, mark: at } : null)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const { key, shiftKey } = event
    const next = movedBy(key, mark)
    if (next !== null) moveTo(next, shiftKey)
    else if (key === 'Enter' && chosen && chosen.to > chosen.from) show(chosen)
    else if (key === 'Escape') {
      drag.current = null
      if (selection) setSelection(null)
      else onWhole()
    } else return
    event.preventDefault()
    event.stopPropagation()
  }
  const handlers = {
    onKeyDown,
    onPointerDown: (event: PointerEvent<Element>) => {
      if (event.button !== 0) return
      const { left } = event.currentTarget.getBoundingClientRect()
      const at = shareAt(event.clientX, left)
      event.currentTarget.setPointerCapture(event.pointerId)
      drag.current = { left, anchor: at }
      setMark(at)
      setSelection(null)
    },
    onPointerMove: (event: PointerEvent) => {
      if (!drag.current) return
      const { left, anchor } = drag.current
      const at = shareAt(event.clientX, left)
      if (Math.abs(at - anchor) * width < LEAST_DRAG_PX) return
      setMark(at)
      setSelection({ anchor, mark: at })
    },
    onPointerUp: (event: PointerEvent) => {
      if (!drag.current) return
      const { left, anchor } = drag.current
      drag.current = null
      const at = shareAt(event.clientX, left)
      if (Math.abs(at - anchor) * width >= LEAST_DRAG_PX)
        show({ from: Math.min(anchor, at), to: Math.max(anchor, at) })
    },
    onPointerCancel: () => {
      drag.current = null
      setSelection(null)
    },
    onDoubleClick: onWhole,
    // What was drawn and not shown is over when the strip is left.
    onBlur: () => setSelection(null),
  }
  return { chosen, mark, handlers }
}
