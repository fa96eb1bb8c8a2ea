import {
  afterBlanks,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  endOfString,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-text.ts'

/**
 * Finds duplicate keys in the objects of a JSON text. JSON.parse keeps the last one and drops the others, so two readers of
 * one body may see two different requests.
 *
 * The parsed value must have as many keys as the text has members. Both are counted, in one pass over each and without
 * memory. Only when the counts differ is the text scanned in detail.
 */

/** The path of the first duplicate key, or null. The text must be valid JSON, and the value its parsed form. */
export function doubledKey(text: string, value: unknown): (string | number)[] | null {
  if (value === null || typeof value !== 'object') return null
  return membersIn(text) === keysIn(value) ? null : firstPlace(text, ({ isDoubled }) => isDoubled)
}

/** Counts the strings followed by a colon. Jumps from quote to quote, as fast as memory is read. */
function membersIn(text: string): number {
  let members = 0
  for (let open = text.indexOf('"'); open !== -1; ) {
    const after = afterBlanks(text, endOfString(text, open) + 1)
    if (text.charCodeAt(after) === COLON) members++
    open = text.indexOf('"', after)
  }
  return members
}

/** With an explicit stack: bodies may be nested deeply. */
function keysIn(root: object): number {
  let keys = 0
  const stack: object[] = [root]
  for (let next = stack.pop(); next; next = stack.pop()) {
    if (Array.isArray(next)) {
      for (const inner of next) if (inner !== null && typeof inner === 'object') stack.push(inner)
    } else {
      for (const key in next) {
        keys++
        const inner: unknown = next[key as never]
        if (inner !== null && typeof inner === 'object') stack.push(inner)
      }
    }
  }
  return keys
}

/** An object or list around the current position: the keys seen so far (objects only), and the current key or index. */
interface Inside {
  keys: Set<string> | null
  at: string | number
}

/** The path of the first value that is nested deeper; null: none is. */
export const deeperThan = (levels: number, text: string): (string | number)[] | null =>
  firstPlace(text, ({ depth }) => depth > levels)

/** What was just read: an opening bracket, or a key. */
interface Place {
  depth: number
  isDoubled: boolean
}

function firstPlace(text: string, isWanted: (place: Place) => boolean): (string | number)[] | null {
  const inside: Inside[] = []
  for (let at = 0; at < text.length; at++) {
    const here = inside.at(-1)
    switch (text.charCodeAt(at)) {
      case OPEN_OBJECT:
      case OPEN_LIST: {
        const isList = text.charCodeAt(at) === OPEN_LIST
        if (isWanted({ depth: inside.length + 1, isDoubled: false })) return inside.map((one) => one.at)
        inside.push(isList ? { keys: null, at: 0 } : { keys: new Set(), at: '' })
        break
      }
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        inside.pop()
        break
      case COMMA:
        if (typeof here?.at === 'number') here.at++
        break
      case QUOTE: {
        const end = endOfString(text, at)
        if (here?.keys && text.charCodeAt(afterBlanks(text, end + 1)) === COLON) {
          // Parsed, not as written: "\u0061" and "a" are the same key.
          here.at = JSON.parse(text.slice(at, end + 1)) as string
          const isDoubled = here.keys.has(here.at)
          if (isWanted({ depth: inside.length, isDoubled })) return inside.map((one) => one.at)
          here.keys.add(here.at)
        }
        at = end
      }
    }
  }
  return null
}

const LONGEST_PATH = 200

/** A path as it is written in answers: tasks[1].title. */
export function pathText(names: readonly (string | number)[]): string {
  let path = ''
  for (const name of names) {
    path += typeof name === 'number' ? `[${name}]` : path === '' ? name : `.${name}`
    if (path.length > LONGEST_PATH) return `${path.slice(0, LONGEST_PATH)}…`
  }
  return names.length > 0 && path === '' ? '""' : path
}
