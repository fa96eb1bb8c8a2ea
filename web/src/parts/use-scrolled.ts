import { type RefObject, useEffect, useState } from 'react'
import type { VirtualListHandle } from './virtual-list.tsx'

const AT_TOP_PX = 8

/** Whether the reader has left the top of the table. */
export function useScrolled(
  table: RefObject<VirtualListHandle | null>,
  onAtTop: (isAtTop: boolean) => void,
  hasRows: boolean,
): boolean {
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const element = hasRows ? table.current?.element() : null
    if (!element) return
    const look = () => {
      const isAtTop = element.scrollTop <= AT_TOP_PX
      setScrolled(!isAtTop)
      onAtTop(isAtTop)
    }
    element.addEventListener('scroll', look, { passive: true })
    return () => element.removeEventListener('scroll', look)
  }, [table, onAtTop, hasRows])
  return isScrolled
}
