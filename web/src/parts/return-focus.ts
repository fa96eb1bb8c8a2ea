import { useLayoutEffect, useRef } from 'react'

/** The focus is never lost: what opens above a page, or beside it, gives it back to where it came from. */

/** The focused element; of a menu, which closes, the button that opened it. Null: nothing has the focus. */
function focusedNow(): HTMLElement | null {
  const { activeElement } = document
  if (!(activeElement instanceof HTMLElement) || activeElement === document.body) return null
  const trigger = activeElement.closest('[role="menu"]')?.getAttribute('aria-labelledby')
  return trigger ? document.getElementById(trigger) : activeElement
}

/** To the element, or, if it is gone, to the heading of the page. Null: it came from nowhere, and keys act on the page. */
function giveBack(element: HTMLElement | null): void {
  if (element === null) return
  const isThere = element.isConnected && element.getClientRects().length > 0
  const target = isThere ? element : document.querySelector<HTMLElement>('[data-page-heading]')
  target?.focus({ preventScroll: true })
}

/** For a dialog of Radix: what had the focus as it opened has it again when it closes, unless something else took it. */
export function useReturnFocus(isOpen: boolean): (event: Event) => void {
  const cameFrom = useRef<HTMLElement | null>(null)
  // Before its content is there, which may take the focus.
  useLayoutEffect(() => {
    if (isOpen) cameFrom.current = focusedNow()
  }, [isOpen])
  return (event) => {
    event.preventDefault()
    if (focusedNow() === null) giveBack(cameFrom.current)
  }
}

/** For a part of the page that comes and goes: if it goes with the focus in it, what had it before has it again. */
export function useReturnFocusFrom(part: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const cameFrom = focusedNow()
    const element = part.current
    return () => {
      // Until the part is gone: it would be the element itself that is left.
      if (element?.contains(document.activeElement)) queueMicrotask(() => giveBack(cameFrom))
    }
  }, [part])
}
