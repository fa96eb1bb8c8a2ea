import {
  afterBlanks,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  endOfString,
  malformed,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from './json-text.ts'

/**
 * Parses a long JSON text piece by piece, so that others get their turn in between: JSON.parse takes more than a second for the
 * largest body that is allowed. The result is the same as that of JSON.parse.
 *
 * A piece is a run of whole items of one list or object. Where an item is longer than a piece, its own items are the pieces.
 */

/** Parses in some ten milliseconds, whatever it contains. */
const PIECE_LENGTH = 64 * 1024
/** As much as is skipped without a pause, such as blanks. */
const PAUSE_EVERY = 1024 * 1024

/** Where a piece is: the names and places of what it is in, and the place of its first item if that is a list. */
export interface PieceAt {
  within: readonly (string | number)[]
  first: number
}

/** Parses and checks a piece; what it throws ends the parsing. */
type ParsePiece = (text: string, at: PieceAt) => unknown

/** A list or object that is longer than a piece, and so far has the items before the current position. */
interface Open {
  items: unknown[] | Record<string, unknown>
  /** Its name or place in what it is in. */
  name: string | number
  bracket: number
}

/** The value of the text. Yields where others may have their turn. */
export function* parsedInPieces(
  text: string,
  parse: ParsePiece,
  length = PIECE_LENGTH,
): Generator<void, unknown> {
  const start = afterBlanks(text, 0)
  const first = text.charCodeAt(start)
  if (text.length <= length || (first !== OPEN_LIST && first !== OPEN_OBJECT))
    return parse(text, { within: [], first: 0 })
  return yield* new Pieces(text, parse, length).all(start)
}

class Pieces {
  readonly #text: string
  readonly #parse: ParsePiece
  readonly #length: number
  /** What is parsed in pieces, from the outside in. */
  readonly #open: Open[] = []
  /** Of every list and object around the position: its bracket, and the last comma in it. */
  readonly #brackets: number[] = []
  readonly #commas: number[] = []
  /** What is parsed ends here. */
  #from = 0
  /** A list or object that was parsed in pieces has just ended: a comma or the end of what it is in must follow. */
  #isAfterOpen = false

  constructor(text: string, parse: ParsePiece, length: number) {
    this.#text = text
    this.#parse = parse
    this.#length = length
  }

  *all(start: number): Generator<void, unknown> {
    this.#begin(start)
    this.#openNext('')
    const root = this.#open[0]!.items
    let paused = start
    for (let at = start + 1; at < this.#text.length; at++) {
      at = this.#step(at)
      if (this.#open.length === 0) return this.#ended(at, root)
      if (at + 1 - this.#from >= this.#length) {
        if (this.#shorten(at) || at - paused > PAUSE_EVERY) {
          paused = at
          yield
        }
      }
    }
    throw malformed()
  }

  #ended(at: number, root: unknown): unknown {
    if (afterBlanks(this.#text, at + 1) < this.#text.length) throw malformed()
    return root
  }

  /** Takes the character at the position, or the whole string that begins there. Returns the last position it took. */
  #step(at: number): number {
    switch (this.#text.charCodeAt(at)) {
      case QUOTE:
        return endOfString(this.#text, at)
      case OPEN_LIST:
      case OPEN_OBJECT:
        this.#begin(at)
        break
      case COMMA:
        this.#commas[this.#commas.length - 1] = at
        if (this.#isAfterOpen && this.#brackets.length === this.#open.length) this.#goOn(at)
        break
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        if (this.#brackets.length === this.#open.length) this.#close(at)
        this.#brackets.pop()
        this.#commas.pop()
    }
    return at
  }

  #begin(at: number): void {
    this.#brackets.push(at)
    this.#commas.push(at)
  }

  /** After the comma that follows an item parsed in pieces. */
  #goOn(comma: number): void {
    if (afterBlanks(this.#text, this.#from) !== comma) throw malformed()
    this.#from = comma + 1
    this.#isAfterOpen = false
  }

  /** Parses the items before the last comma; what is longer alone is opened. Whether anything was done. */
  #shorten(at: number): boolean {
    let isShorter = false
    while (at + 1 - this.#from >= this.#length) {
      const comma = this.#commas[this.#open.length - 1]!
      if (comma >= this.#from) {
        this.#take(comma)
        this.#from = comma + 1
      } else if (this.#brackets.length > this.#open.length && !this.#isAfterOpen) this.#openNext()
      else break
      isShorter = true
    }
    return isShorter
  }

  /** Opens the outermost list or object that is not open yet. */
  #openNext(name = this.#nameBefore(this.#brackets[this.#open.length]!)): void {
    const bracket = this.#brackets[this.#open.length]!
    const outer = this.#open.at(-1)
    const items = this.#text.charCodeAt(bracket) === OPEN_LIST ? [] : {}
    if (outer) this.#add(outer, typeof name === 'number' ? [items] : { [name]: items })
    this.#open.push({ items, name, bracket })
    this.#from = bracket + 1
  }

  /** The name or place of the item whose bracket this is. */
  #nameBefore(bracket: number): string | number {
    const { items } = this.#open.at(-1)!
    const written = this.#text.slice(this.#from, bracket)
    if (Array.isArray(items)) {
      if (afterBlanks(written, 0) < written.length) throw malformed()
      return items.length
    }
    // With a list as its value: the name alone is checked like the names of other pieces.
    const [name] = Object.keys(this.#parse(`{${written}[]}`, this.#place()) as object)
    if (name === undefined) throw malformed()
    return name
  }

  /** Parses what is between the last piece and here. */
  #take(to: number): void {
    const open = this.#open.at(-1)!
    const written = this.#text.slice(this.#from, to)
    if (afterBlanks(written, 0) === written.length) throw malformed()
    const [before, after] = Array.isArray(open.items) ? '[]' : '{}'
    this.#add(open, this.#parse(`${before}${written}${after}`, this.#place()) as object)
  }

  #add({ items }: Open, more: object): void {
    if (Array.isArray(items)) {
      for (const item of more as unknown[]) items.push(item)
      return
    }
    for (const [name, value] of Object.entries(more)) {
      if (Object.hasOwn(items, name)) throw new GivenTwice([...this.#place().within, name])
      items[name] = value
    }
  }

  #place(): PieceAt {
    const { items } = this.#open.at(-1)!
    return {
      within: this.#open.slice(1).map(({ name }) => name),
      first: Array.isArray(items) ? items.length : 0,
    }
  }

  #close(at: number): void {
    const { items, bracket } = this.#open.at(-1)!
    if ((this.#text.charCodeAt(at) === CLOSE_LIST) !== Array.isArray(items)) throw malformed()
    const isBlank = afterBlanks(this.#text, this.#from) === at
    if (this.#isAfterOpen ? !isBlank : isBlank && this.#from !== bracket + 1) throw malformed()
    if (!isBlank) this.#take(at)
    this.#open.pop()
    this.#from = at + 1
    this.#isAfterOpen = true
  }
}

/** A name that an object has twice, in two pieces. */
export class GivenTwice extends Error {
  readonly path: readonly (string | number)[]

  constructor(path: readonly (string | number)[]) {
    super('A name is given twice.')
    this.path = path
  }
}
