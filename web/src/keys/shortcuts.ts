import { useEffect, useRef, useSyncExternalStore } from 'react'
import { isSingleKey, matchStrokes, strokeName } from './keystrokes.ts'
import { areSingleKeysOn } from './single-keys.ts'

/** One table of all keys that act now: what is in it works, and is what `?` and the palette show. */

interface Shortcut {
  /** What it does, as a person would say it. Also its name in the palette. */
  words: string
  run: (event: KeyboardEvent) => void
  /** Why it cannot be used now: the key is listed and does nothing. */
  isOff?: boolean
  /** A held key repeats: for moving, never for acting. */
  repeats?: boolean
}

export type Shortcuts = Record<string, Shortcut>

interface Layer {
  where: string
  current: { shortcuts: Shortcuts }
}

const SEQUENCE_MS = 1_000
let layers: readonly Layer[] = []
const listeners = new Set<() => void>()
let strokes: { names: string[]; at: number } = { names: [], at: 0 }

function setLayers(next: readonly Layer[]): void {
  layers = next
  for (const listener of listeners) listener()
}

/** Binds keys while the component is mounted. The layer that was added last is asked first. `where` is the heading in the help. */
export function useShortcuts(where: string, shortcuts: Shortcuts): void {
  const current = useRef({ shortcuts })
  useEffect(() => {
    current.current.shortcuts = shortcuts
  })
  useEffect(() => {
    const layer = { where, current: current.current }
    setLayers([...layers, layer])
    return () => setLayers(layers.filter((one) => one !== layer))
  }, [where])
}

/** All that is bound and works now, the most specific first: a key that is bound twice acts where it was bound last. */
export function useBoundShortcuts(): { where: string; shortcuts: Shortcuts }[] {
  const now = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    () => layers,
  )
  return usableByPlace(
    [...now].reverse().map(({ where, current }) => ({ where, shortcuts: current.shortcuts })),
  )
}

/** Each place once, with its keys that work; a place without any is left out. Pure. */
export function usableByPlace(
  specificFirst: readonly { where: string; shortcuts: Shortcuts }[],
): { where: string; shortcuts: Shortcuts }[] {
  const taken = new Set<string>()
  const places = new Map<string, Shortcuts>()
  for (const { where, shortcuts } of specificFirst) {
    for (const [keys, shortcut] of Object.entries(shortcuts)) {
      if (shortcut.isOff || taken.has(keys)) continue
      taken.add(keys)
      places.set(where, { ...places.get(where), [keys]: shortcut })
    }
  }
  return [...places].map(([where, shortcuts]) => ({ where, shortcuts }))
}

const FIELDS = 'input, textarea, select, [contenteditable]:not([contenteditable="false"])'
const NOT_TYPED_IN = 'input[type="radio"], input[type="checkbox"], input[type="button"]'

const PRESSED = 'button, summary, input, [role="tab"]'

/** Single keys never act inside fields; menus and dialogs have their own keys. */
function isForUs(event: KeyboardEvent, name: string): boolean {
  if (event.defaultPrevented || event.isComposing) return false
  const target = event.target instanceof Element ? event.target : document.body
  if (target.closest('[role="menu"], [role="dialog"], [role="listbox"]')) return false
  const isInField = target.closest(FIELDS) !== null && !target.matches(NOT_TYPED_IN)
  if (isInField) return name.startsWith('Mod+')
  // Arrows go from one radio button to the next.
  if (name.startsWith('Arrow') && target.matches('input[type="radio"]')) return false
  // Enter and Space press the button that has the focus. Enter also opens a link; Space does nothing to one, so it may peek.
  if (name === 'Enter') return target.closest(`a, ${PRESSED}`) === null
  return name !== 'Space' || target.closest(PRESSED) === null
}

function onKey(event: KeyboardEvent): void {
  const name = strokeName(event)
  if (name === null || !isForUs(event, name)) return
  const before = event.timeStamp - strokes.at < SEQUENCE_MS ? strokes.names : []
  // "g" then a key that completes nothing: the key counts on its own.
  for (const names of [[...before, name], [name]]) {
    const bound = usableNow()
    const { complete, isBegun } = matchStrokes(names, bound.keys())
    if (isBegun && !complete) {
      strokes = { names, at: event.timeStamp }
      event.preventDefault()
      return
    }
    if (!complete) continue
    strokes = { names: [], at: 0 }
    const shortcut = bound.get(complete)!
    if (event.repeat && !shortcut.repeats) return
    event.preventDefault()
    shortcut.run(event)
    return
  }
  strokes = { names: [], at: 0 }
}

function usableNow(): Map<string, Shortcut> {
  const areSingleOn = areSingleKeysOn()
  const usable = new Map<string, Shortcut>()
  for (const { current } of layers)
    for (const [keys, shortcut] of Object.entries(current.shortcuts))
      if (!shortcut.isOff && (areSingleOn || !isSingleKey(keys))) usable.set(keys, shortcut)
  return usable
}

/** Once, when the app starts. */
export function listenToKeys(): void {
  window.addEventListener('keydown', onKey)
}
