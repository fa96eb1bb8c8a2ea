import { useCallback, useRef, useState, useSyncExternalStore } from 'react'

/**
 * What was written and not sent yet, by the thing it is about. It outlives the form: another tab of the page, Esc, going back and
 * loading the page again lose nothing. It ends when it is sent or discarded, or with the browser's tab.
 */

/** Values as they are; some of them, such as those of environment variables, are kept nowhere else. */
const memory = new Map<string, unknown>()
const listeners = new Set<() => void>()

const keyOf = (name: string) => `baton-draft:${location.pathname.split('/')[2]}:${name}`

/** What is written to the storage of the tab; undefined: nothing of it. */
type Storable<T> = (value: T) => unknown

export function draftOf<T>(name: string): T | undefined {
  const key = keyOf(name)
  if (!memory.has(key)) {
    const text = sessionStorage.getItem(key)
    if (text !== null) memory.set(key, JSON.parse(text))
  }
  return memory.get(key) as T | undefined
}

export function keepDraft<T>(name: string, value: T, storable: Storable<T> = (all) => all): void {
  const key = keyOf(name)
  memory.set(key, value)
  try {
    sessionStorage.setItem(key, JSON.stringify(storable(value)))
  } catch {
    // No room there: it is kept until the page is loaded again.
    sessionStorage.removeItem(key)
  }
  for (const listener of listeners) listener()
}

export function dropDraft(name: string): void {
  const key = keyOf(name)
  memory.delete(key)
  sessionStorage.removeItem(key)
  for (const listener of listeners) listener()
}

const listen = (listener: () => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/** Whether something about it is written and not sent. */
export const useHasDraft = (name: string) =>
  useSyncExternalStore(listen, () => draftOf<unknown>(name) !== undefined)

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** A value of a form, as `useState` has it. As long as it is what it was at first, there is no draft of it. */
export function useDraft<T>(name: string, first: T) {
  const read = () => draftOf<T>(name) ?? first
  const [shown, setShown] = useState(() => ({ name, value: read() }))
  const latest = useRef({ name, value: shown.value, first })
  // Another thing, in the same form.
  const value = shown.name === name ? shown.value : read()
  if (shown.name !== name) setShown({ name, value })
  latest.current = { name, value, first }
  const set = useCallback((next: T | ((before: T) => T)) => {
    const now = latest.current
    const value = typeof next === 'function' ? (next as (before: T) => T)(now.value) : next
    now.value = value
    setShown({ name: now.name, value })
    if (isSame(value, now.first)) dropDraft(now.name)
    else keepDraft(now.name, value)
  }, [])
  const drop = useCallback(() => {
    dropDraft(latest.current.name)
    setShown({ name: latest.current.name, value: latest.current.first })
  }, [])
  return { value, set, drop, isKept: !isSame(value, first) }
}
