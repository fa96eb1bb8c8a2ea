import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { fitting, ZOOM, zoomed } from '../../../graphs/geometry.ts'

/** At first nothing is smaller than this: text can be read, and the rest is scrolled to. */
const READABLE = 0.7
const PER_WHEEL_PX = 0.002

interface Size {
  width: number
  height: number
}
interface Point {
  x: number
  y: number
}

/** The box is as high as the drawing, up to this. */
const highest = (box: HTMLElement) => Number.parseFloat(getComputedStyle(box).maxHeight) || box.clientHeight

/**
 * How large a drawing is shown in a box that scrolls. What is in the middle, or under the pointer, stays there; at first that is
 * `start`. A drawing that grows changes nothing of that.
 */
export function useZoom(box: RefObject<HTMLDivElement | null>, size: Size, start: Point | null) {
  const [zoom, setZoom] = useState(1)
  /** The point that stays: in the drawing, and in the box. */
  const kept = useRef<(Point & { left: number; top: number }) | null>(null)
  const latest = useRef({ size, start })
  useLayoutEffect(() => {
    latest.current = { size, start }
  })
  const showAll = useCallback(
    (least: number = ZOOM.least) => {
      const element = box.current
      if (!element) return
      const room = { width: element.clientWidth, height: highest(element) }
      setZoom(fitting(latest.current.size, room, least))
    },
    [box],
  )
  const zoomBy = useCallback(
    (by: number, at?: { clientX: number; clientY: number }) => {
      const element = box.current
      if (!element) return
      const around = element.getBoundingClientRect()
      const left = at ? at.clientX - around.left : element.clientWidth / 2
      const top = at ? at.clientY - around.top : element.clientHeight / 2
      setZoom((before) => {
        kept.current = {
          ...{ left, top },
          x: (element.scrollLeft + left) / before,
          y: (element.scrollTop + top) / before,
        }
        return zoomed(before, by)
      })
    },
    [box],
  )
  useLayoutEffect(() => {
    const [element, point] = [box.current, kept.current]
    kept.current = null
    if (!element || !point) return
    element.scrollLeft = point.x * zoom - point.left
    element.scrollTop = point.y * zoom - point.top
  }, [box, zoom])
  useLayoutEffect(() => {
    const [element, { start: first }] = [box.current, latest.current]
    showAll(READABLE)
    if (!element || !first) return
    kept.current = { ...first, left: element.clientWidth / 2, top: highest(element) / 2 }
    element.scrollLeft = first.x - element.clientWidth / 2
    element.scrollTop = first.y - highest(element) / 2
  }, [box, showAll])
  useEffect(() => {
    const element = box.current
    if (!element) return
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      zoomBy(Math.exp(-event.deltaY * PER_WHEEL_PX), event)
    }
    // Not by React: its listeners cannot keep the browser from zooming the page.
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  }, [box, zoomBy])
  return { zoom, zoomBy, showAll }
}

/** The mouse drags the drawing; fingers scroll it as they scroll everything. */
export function useDrag(box: RefObject<HTMLDivElement | null>): void {
  useEffect(() => {
    const element = box.current
    if (!element) return
    const stop = new AbortController()
    const { signal } = stop
    let from: { x: number; y: number } | null = null
    element.addEventListener(
      'pointerdown',
      (event) => {
        const isOnNode = event.target instanceof Element && event.target.closest('a') !== null
        if (event.pointerType !== 'mouse' || event.button !== 0 || isOnNode) return
        from = { x: event.clientX, y: event.clientY }
        element.setPointerCapture(event.pointerId)
      },
      { signal },
    )
    element.addEventListener(
      'pointermove',
      (event) => {
        if (!from) return
        element.scrollBy(from.x - event.clientX, from.y - event.clientY)
        from = { x: event.clientX, y: event.clientY }
      },
      { signal },
    )
    const end = () => {
      from = null
    }
    element.addEventListener('pointerup', end, { signal })
    element.addEventListener('pointercancel', end, { signal })
    return () => stop.abort()
  }, [box])
}
