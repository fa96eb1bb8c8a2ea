/** How keys are written: "x", "Shift+x", "Mod+k", "Enter", "?", and "g i" for one after the other. Pure. */

export interface Stroke {
  key: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  shiftKey: boolean
}

const NAMES: Record<string, string> = { ' ': 'Space', Escape: 'Esc', Delete: 'Del' }

/** The name of a stroke, as bindings write it; null for a modifier alone. Mod is Ctrl, and the command key on a Mac. */
export function strokeName({ key, ctrlKey, metaKey, altKey, shiftKey }: Stroke): string | null {
  if (['Control', 'Meta', 'Alt', 'Shift', 'AltGraph', 'Dead', 'Process', 'Unidentified'].includes(key))
    return null
  const isLetter = /^\p{L}$/u.test(key)
  const name = NAMES[key] ?? (isLetter ? key.toLowerCase() : key)
  // For signs, Shift is part of the key: "?" needs it on one keyboard and not on another.
  const isShifted = shiftKey && (isLetter || key.length > 1)
  return [ctrlKey || metaKey ? 'Mod' : '', altKey ? 'Alt' : '', isShifted ? 'Shift' : '', name]
    .filter(Boolean)
    .join('+')
}

/** Keys that a person may press by accident, by voice or while meaning a field (WCAG 2.1.4). */
export const isSingleKey = (keys: string) =>
  keys
    .split(' ')
    .every((stroke) => !/^(Mod|Alt)\+/.test(stroke) && [...stroke.replace('Shift+', '')].length === 1)

/** What the strokes so far mean: the binding they complete, whether another may follow, or neither. */
export function matchStrokes(
  strokes: readonly string[],
  bound: Iterable<string>,
): { complete: string | null; isBegun: boolean } {
  const typed = strokes.join(' ')
  let complete: string | null = null
  let isBegun = false
  for (const keys of bound) {
    if (keys === typed) complete = keys
    else if (keys.startsWith(`${typed} `)) isBegun = true
  }
  return { complete, isBegun }
}

/** Enter alone, which a field may take for itself. With Ctrl or Cmd it saves what the field is a part of. Pure. */
export const isPlainEnter = ({ key, ctrlKey, metaKey }: Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey'>) =>
  key === 'Enter' && !ctrlKey && !metaKey
