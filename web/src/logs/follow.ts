import { type RefObject, useEffect, useRef } from 'react'

/**
 * Whether a reader follows the end of a list. On at the end, off as soon as wheel, key, touch, scrollbar or selection moves away
 * from it. Content that changes never switches it: a scroll that the reader did not cause is ignored.
 */

const AFTER_HAND_MS = 700
const UP_KEYS = new Set(['ArrowUp', 'PageUp', 'Home'])
const DOWN_KEYS = new Set(['ArrowDown', 'PageDown', 'End', ' '])

export function useFollowing(
  scroller: RefObject<HTMLElement | null>,
  isAtEnd: () => boolean,
  onChange: (isFollowing: boolean) => void,
): void {
  const parts = useRef({ isAtEnd, onChange })
  parts.current = { isAtEnd, onChange }
  useEffect(() => {
    if (!scroller.current) return
    const hand = new Hand(scroller.current, (isFollowing) => parts.current.onChange(isFollowing))
    return hand.listen(() => parts.current.isAtEnd())
  }, [scroller])
}

class Hand {
  readonly #element: HTMLElement
  readonly #notify: (isFollowing: boolean) => void
  #movedDownAt = Number.NEGATIVE_INFINITY
  #isDragging = false
  #touchY = 0

  constructor(element: HTMLElement, notify: (isFollowing: boolean) => void) {
    this.#element = element
    this.#notify = notify
  }

  listen(isAtEnd: () => boolean): () => void {
    const ended = new AbortController()
    const options = { signal: ended.signal, passive: true }
    const on = <K extends keyof HTMLElementEventMap>(
      type: K,
      call: (event: HTMLElementEventMap[K]) => void,
    ) => this.#element.addEventListener(type, call, options)
    on('wheel', ({ deltaY }) => deltaY !== 0 && this.#move(deltaY > 0))
    on('keydown', ({ key }) => {
      if (UP_KEYS.has(key)) this.#move(false)
      if (DOWN_KEYS.has(key)) this.#move(true)
    })
    on('touchstart', ({ touches }) => {
      this.#touchY = touches[0]?.clientY ?? 0
    })
    on('touchmove', ({ touches }) => this.#move((touches[0]?.clientY ?? 0) < this.#touchY))
    // The scrollbar belongs to the scrolling element itself, its text to other elements.
    on('pointerdown', ({ target }) => {
      this.#isDragging = target === this.#element
    })
    addEventListener('pointerup', () => this.#letGo(), options)
    on('scroll', () => {
      const isByHand = performance.now() - this.#movedDownAt < AFTER_HAND_MS
      if (this.#isDragging) this.#notify(isAtEnd())
      else if (isByHand && isAtEnd()) this.#notify(true)
    })
    document.addEventListener('selectionchange', () => this.#selected(), options)
    return () => ended.abort()
  }

  #move(isDown: boolean): void {
    this.#movedDownAt = isDown ? performance.now() : Number.NEGATIVE_INFINITY
    if (!isDown && this.#element.scrollTop > 0) this.#notify(false)
  }

  #letGo(): void {
    this.#isDragging = false
  }

  #selected(): void {
    const selection = document.getSelection()
    if (selection && !selection.isCollapsed && this.#element.contains(selection.anchorNode))
      this.#notify(false)
  }
}
