/**
 * Whether a text can be read as Markdown without a pause that people notice. The reader takes time by the square of some things:
 * forty thousand `>` would stop the page for ten seconds, and a million for hours. Such texts are shown as they are.
 */

const LONGEST = 60_000
/** Each may be a block of its own. */
const MOST_LINES = 2_000
/** Quotes and lists in each other. Deeper nesting is an attack, not a text. */
export const DEEPEST = 40
/** Items of lists and lines of quotes, each counted as often as it is deep. */
const MOST_ITEMS = 1_000
/** Characters that may begin or end something within a line. */
const MOST_MARKS = 3_000
/** Each closing bracket is compared with all that comes before it. */
const MOST_BRACKETS = 500

const MARKS = new Set('*_~`<&|@!'.split(''))

export function isReadableMarkdown(text: string): boolean {
  if (text.length > LONGEST) return false
  let lines = 0
  let items = 0
  let deepest = 0
  for (let at = 0; at < text.length; ) {
    const end = endOfLine(text, at)
    const depth = depthOf(text, at, end, deepest)
    deepest = Math.max(deepest, depth)
    items += depth
    if (depth > DEEPEST || items > MOST_ITEMS || ++lines > MOST_LINES) return false
    at = end + 1
  }
  return hasFewMarks(text)
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end === -1 ? text.length : end
}

const QUOTE_OR_ITEM = /[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$))/y

/** How many quotes and lists a line begins or continues, at most. */
function depthOf(text: string, from: number, end: number, deepestBefore: number): number {
  // No deeper line is read to its end: what follows does not matter.
  const start = text.slice(from, Math.min(end, from + 20 * DEEPEST))
  let depth = 0
  let indent = 0
  QUOTE_OR_ITEM.lastIndex = 0
  for (let found = QUOTE_OR_ITEM.exec(start); found; found = QUOTE_OR_ITEM.exec(start)) {
    // An item that is indented is in another one, if there is one.
    indent += found[0].search(/[^ \t]/)
    depth++
  }
  return depth === 0 ? 0 : depth + Math.min(Math.floor(indent / 2), deepestBefore)
}

function hasFewMarks(text: string): boolean {
  let marks = 0
  let brackets = 0
  for (const character of text) {
    if (character === ']') brackets++
    else if (character === '[' || MARKS.has(character)) marks++
  }
  return marks <= MOST_MARKS && brackets <= MOST_BRACKETS
}
