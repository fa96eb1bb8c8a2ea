/**
 * A key that an object of a JSON text has twice. JSON.parse keeps the last and forgets the others, so that two readers of one
 * body may see two different requests.
 *
 * As many members as the text has, so many keys must what was read from it have: both are counted, which takes one walk over
 * each and no memory. Only when they differ is the text looked at closely.
 */

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** The path of the first doubled key, or null. The text must be JSON, and the value what it says. */
export function doubledKey(text: string, value: unknown): string | null {
  if (value === null || typeof value !== 'object') return null
  return membersIn(text) === keysIn(value) ? null : firstDoubled(text)
}

/** Strings that a colon follows. From quote to quote: what is between them is skipped as fast as memory is read. */
function membersIn(text: string): number {
  let members = 0
  for (let open = text.indexOf('"'); open !== -1; ) {
    const after = afterBlanks(text, endOfString(text, open) + 1)
    if (text.charCodeAt(after) === COLON) members++
    open = text.indexOf('"', after)
  }
  return members
}

/** Where the string that begins here has its closing quote: the first that no odd number of backslashes stands before. */
function endOfString(text: string, open: number): number {
  for (let end = text.indexOf('"', open + 1); ; end = text.indexOf('"', end + 1)) {
    let before = end - 1
    while (text.charCodeAt(before) === BACKSLASH) before--
    if ((end - before) % 2 === 1) return end
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from
  // Of all that may come here, only blanks are this low.
  while (text.charCodeAt(at) <= 0x20) at++
  return at
}

/** A stack of its own: bodies may be nested deeply. */
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

/** An object or list that the walk is inside of: its keys so far, if it has any, and where in it the walk is. */
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
          // Not as it is written: "\u0061" and "a" are the same key.
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
