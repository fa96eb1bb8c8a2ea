import { type RefObject, useEffect, useRef, useState } from 'react'

/** Whether a part of the page was in view once, or nearly: what it needs is asked for then, and not before. */
export function useComesNear<Part extends HTMLElement>(): { ref: RefObject<Part | null>; isNear: boolean } {
  const ref = useRef<Part>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    if (isNear || !ref.current) return
    const seen = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true)
    })
    seen.observe(ref.current)
    return () => seen.disconnect()
  }, [isNear])
  return { ref, isNear }
}
