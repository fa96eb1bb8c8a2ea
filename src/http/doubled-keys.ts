/**
 * Finds duplicate keys in the objects of a JSON text. JSON.parse keeps the last one and drops the others, so two readers of
 * one body may see two different requests.
 *
 * The parsed value must have as many keys as the text has members. Both are counted, in one pass over each and without
 * memory. Only when the counts differ is the text scanned in detail.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The path of the first duplicate key, or null. The text must be valid JSON, and the value its parsed form. */
export function doubledKey(text: string, value: unknown): string | null {
  if (value === null || typeof value !== 'object') return null
  return membersIn(text) === keysIn(value) ? null : firstDoubled(text)
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

/** The closing quote of the string that begins here: the first not preceded by an odd number of backslashes. */
function endOfString(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    if ((end - before) % 2 === 1) return end
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from
  // Of all characters that can follow, only whitespace is this low.
  while (text.charCodeAt(at) <= 0x20) at++
  return at
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

function firstDoubled(text: string): string | null {
  const inside: Inside[] = []
  for (let at = 0; at < text.length; at++) {
    const here = inside.at(-1)
    switch (text.charCodeAt(at)) {
      case OPEN_OBJECT:
        inside.push({ keys: new Set(), at: '' })
        break
      case OPEN_LIST:
        inside.push({ keys: null, at: 0 })
        break
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
          if (here.keys.has(here.at)) return pathOf(inside)
          here.keys.add(here.at)
        }
        at = end
      }
    }
  }
  return null
}

const LONGEST_PATH = 200

function pathOf(inside: readonly Inside[]): string {
  let path = ''
  for (const { at } of inside) {
    path += typeof at === 'number' ? `[${at}]` : path === '' ? at : `.${at}`
    if (path.length > LONGEST_PATH) return `${path.slice(0, LONGEST_PATH)}…`
  }
  return path || '""'
}
