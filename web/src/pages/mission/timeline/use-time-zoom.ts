import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import type { Span } from '../../../graphs/folded-time.ts'
import { movedBy, viewOf, type Zoom, zoomedBy, zoomOn } from '../../../graphs/time-axis.ts'
import { useShortcuts } from '../../../keys/shortcuts.ts'

const PER_WHEEL_PX = 0.002

/** Which part of all the time is in view, with its keys. */
export function useTimeZoom(whole: Span) {
  const [zoom, setZoom] = useState<Zoom>('all')
  const view = viewOf(zoom, whole)
  const isWhole = zoom === 'all'
  const zoomTo = (by: number, around?: number) => setZoom(zoomedBy(view, whole, by, around))
  const moveBy = (part: number) => setZoom(movedBy(view, whole, part))
  const showWhole = () => setZoom('all')
  /** `all` is given when what is seen is on another clock from now on. */
  const showPart = (part: Span, all = whole) => setZoom(zoomOn(part, all))
  useShortcuts('Timeline', {
    '+': { words: 'Shorter time', run: () => zoomTo(0.5), repeats: true },
    '-': { words: 'Longer time', run: () => zoomTo(2), repeats: true },
    '0': { words: 'All of it', run: showWhole, isOff: isWhole },
    '<': { words: 'Earlier', run: () => moveBy(-0.5), repeats: true, isOff: isWhole },
    '>': { words: 'Later', run: () => moveBy(0.5), repeats: true, isOff: isWhole },
  })
  return { view, isWhole, zoomTo, moveBy, showWhole, showPart }
}

/** The wheel with Ctrl zooms around the pointer. */
export function useZoomByWheel(
  box: RefObject<HTMLDivElement | null>,
  labelWidth: number,
  zoom: (by: number, x: number) => void,
): void {
  const latest = useRef(zoom)
  useEffect(() => {
    latest.current = zoom
  })
  const onWheel = useCallback(
    (event: WheelEvent) => {
      if ((!event.ctrlKey && !event.metaKey) || !box.current) return
      event.preventDefault()
      const x = event.clientX - box.current.getBoundingClientRect().left - labelWidth
      latest.current(Math.exp(event.deltaY * PER_WHEEL_PX), Math.max(0, x))
    },
    [box, labelWidth],
  )
  useEffect(() => {
    const element = box.current
    // Not by React: its listeners cannot keep the browser from zooming the page.
    element?.addEventListener('wheel', onWheel, { passive: false })
    return () => element?.removeEventListener('wheel', onWheel)
  }, [box, onWheel])
}
