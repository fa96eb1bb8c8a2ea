/**
 * Counts what a JSON text consists of, before anything parses it: how many values it has and how deep they are nested. A megabyte of
 * `{},` is a third of a million objects, and needs fifty times its length as memory.
 */

/** How deep values may be nested. With more, Postgres or the engine's JSON writer may run out of stack. */
export const DEEPEST_JSON = 200

/** As many values as a line of a program's output may have: they are parsed in one go, in a tenth of a second at most. */
const MOST_VALUES_IN_A_LINE = 100_000

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20

/** Takes a text in UTF-8 in pieces of any length. What is no JSON is counted as if it were. */
export class JsonStructure {
  /** Of lists and objects with their items, at any depth. */
  values = 1
  /** The deepest so far. */
  depth = 0
  #level = 0
  #isText = false
  #isEscaped = false
  /** After an opening bracket: what comes next is an item, or closes it. */
  #isOpened = false

  take(bytes: Uint8Array, from = 0, to = bytes.length): void {
    let [isText, isEscaped, isOpened] = [this.#isText, this.#isEscaped, this.#isOpened]
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (byte === BACKSLASH) isEscaped = true
        else if (byte === QUOTE) isText = false
        continue
      }
      if (byte <= SPACE) continue
      if (byte === COMMA) {
        this.values++
        continue
      }
      const isClosing = byte === CLOSE_LIST || byte === CLOSE_OBJECT
      if (isOpened && !isClosing) this.values++
      isOpened = false
      if (byte === QUOTE) isText = true
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
        isOpened = true
        if (++this.#level > this.depth) this.depth = this.#level
      } else if (isClosing) this.#level--
    }
    this.#isText = isText
    this.#isEscaped = isEscaped
    this.#isOpened = isOpened
  }
}

const PIECE_LENGTH = 64 * 1024
/** A character of one unit has three bytes at most. */
const PIECE_BYTES = 3 * PIECE_LENGTH

/** Whether a line can be parsed without a pause that others would notice, and used without running out of stack. */
export function isParsable(text: string): boolean {
  // As many characters as values: most lines are shorter.
  if (text.length <= DEEPEST_JSON) return true
  const structure = new JsonStructure()
  const encoder = new TextEncoder()
  const bytes = new Uint8Array(Math.min(PIECE_BYTES, 3 * text.length))
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    structure.take(bytes, 0, encoder.encodeInto(text.slice(at, at + PIECE_LENGTH), bytes).written)
    if (structure.values > MOST_VALUES_IN_A_LINE || structure.depth > DEEPEST_JSON) return false
  }
  return true
}
