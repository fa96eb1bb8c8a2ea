import { type ReactNode, useEffect, useState } from 'react'

const UNSEEN_MS = 150

/** Nothing for 150 ms: what is loaded by then never flickers. */
export function Late({ children }: { children: ReactNode }) {
  const [isLate, setIsLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setIsLate(true), UNSEEN_MS)
    return () => clearTimeout(timer)
  }, [])
  return isLate ? children : null
}
