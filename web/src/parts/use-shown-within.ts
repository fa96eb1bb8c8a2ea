import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * A row that scrolls sideways shows its chosen part, also when the page opens: the last tab would be out of sight. The row alone
 * moves, not the page around it.
 */
export function useShownWithin<Row extends HTMLElement>(
  chosen: string,
  value: string,
): RefObject<Row | null> {
  const row = useRef<Row>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice is the reason to look again
  useLayoutEffect(() => {
    const part = row.current?.querySelector(chosen)?.getBoundingClientRect()
    if (!row.current || !part) return
    const room = row.current.getBoundingClientRect()
    if (part.left < room.left) row.current.scrollLeft -= room.left - part.left
    else if (part.right > room.right) row.current.scrollLeft += part.right - room.right
  }, [chosen, value])
  return row
}
