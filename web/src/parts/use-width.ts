import { useLayoutEffect, useRef, useState } from 'react'

/** The width of an element, followed as it changes: what stands beside it takes room as well, which the window does not tell. */
export function useWidth(of: () => HTMLElement | null | undefined): number {
  const [width, setWidth] = useState(() => window.innerWidth)
  const find = useRef(of)
  useLayoutEffect(() => {
    const element = find.current()
    if (!element) return
    const look = () => setWidth(element.clientWidth)
    // Once before anything is drawn.
    look()
    const observer = new ResizeObserver(look)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return width
}
