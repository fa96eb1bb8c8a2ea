import { afterSgr, classesOf, PLAIN } from './ansi.ts'

/**
 * What a terminal would show of one line: carriage returns, backspaces and erased parts are settled, so that a progress bar is one line;
 * colours and web links are kept; every other control sequence is removed. The outcome is text and class names, never markup.
 */

export interface TextRun {
  readonly text: string
  readonly classes: string
  readonly href: string | null
}

/** Beyond this, a line is settled from its last part: a progress bar may have been drawn a million times. */
const MOST_SETTLED = 64 * 1024
/** A program may move its cursor anywhere; the line does not become longer than this by moving alone. */
const FARTHEST_COLUMN = 1_000
const LONGEST_LINK = 2_000

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this file removes.
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

export function settled(raw: string): TextRun[] {
  if (!CONTROL.test(raw)) return raw === '' ? [] : [{ text: raw, classes: '', href: null }]
  return new Terminal(lastDrawn(raw)).show()
}

function lastDrawn(raw: string): string {
  if (raw.length <= MOST_SETTLED) return raw
  const from = raw.indexOf('\r', raw.length - MOST_SETTLED)
  return from === -1 || from === raw.length - 1 ? raw : raw.slice(from)
}

interface Look {
  readonly classes: string
  readonly href: string | null
}
const NO_LOOK: Look = { classes: '', href: null }

class Terminal {
  readonly #raw: string
  /** A cell is a character and its look, in two arrays: a line may have a million of them. */
  readonly #texts: string[] = []
  readonly #looks: Look[] = []
  #column = 0
  #at = 0
  #sgr = PLAIN
  #look = NO_LOOK
  /** No string of a terminal ends after this place: found once, or a line full of their beginnings would take quadratic time. */
  #hasNoStringEnd = false

  constructor(raw: string) {
    this.#raw = raw
  }

  show(): TextRun[] {
    while (this.#at < this.#raw.length) this.#step()
    const runs: { text: string; classes: string; href: string | null }[] = []
    this.#texts.forEach((text, column) => {
      const look = this.#looks[column]!
      const last = runs.at(-1)
      if (last && last.classes === look.classes && last.href === look.href) last.text += text
      else runs.push({ text, ...look })
    })
    return runs
  }

  #step(): void {
    const code = this.#raw.codePointAt(this.#at)!
    if (code === 0x1b) this.#escape()
    else this.#character(code, String.fromCodePoint(code))
  }

  #character(code: number, text: string): void {
    this.#at += text.length
    if (code === 0x0d) this.#column = 0
    else if (code === 0x08) this.#column = Math.max(0, this.#column - 1)
    else if (!CONTROL.test(text)) this.#put(text)
  }

  #put(text: string): void {
    while (this.#texts.length < this.#column) this.#set(this.#texts.length, ' ', NO_LOOK)
    this.#set(this.#column, text, this.#look)
    this.#column += 1
  }

  #set(column: number, text: string, look: Look): void {
    this.#texts[column] = text
    this.#looks[column] = look
  }

  /** A sequence that does not end loses its introducer only: what follows is shown, not swallowed. */
  #escape(): void {
    const kind = this.#raw[this.#at + 1] ?? ''
    if (kind === '[') this.#control()
    else if (kind !== '' && ']PX^_'.includes(kind)) this.#string(kind)
    else if (kind !== '' && '()*+#% '.includes(kind)) this.#at += 3
    else this.#at += kind >= '0' && kind <= '~' ? 2 : 1
  }

  #control(): void {
    const sequence = /\[([0-?]*)[ -/]*([@-~])?/y
    sequence.lastIndex = this.#at + 1
    const [all, parameters = '', final] = sequence.exec(this.#raw)!
    this.#at += 1 + all.length
    if (final === undefined || /[<=>?]/.test(parameters)) return
    if (final === 'm') {
      this.#sgr = afterSgr(this.#sgr, parameters)
      this.#look = { ...this.#look, classes: classesOf(this.#sgr) }
    } else if (final === 'K') this.#erase(parameters)
    else this.#move(final, Number.parseInt(parameters, 10) || 1)
  }

  #erase(parameters: string): void {
    if (parameters === '1')
      for (let column = 0; column <= this.#column && column < this.#texts.length; column += 1)
        this.#set(column, ' ', NO_LOOK)
    else this.#texts.length = parameters === '2' ? 0 : Math.min(this.#texts.length, this.#column)
  }

  #move(final: string, count: number): void {
    const to =
      final === 'G'
        ? count - 1
        : final === 'C'
          ? this.#column + count
          : final === 'D'
            ? this.#column - count
            : null
    if (to !== null) this.#column = Math.min(Math.max(to, 0), Math.max(FARTHEST_COLUMN, this.#texts.length))
  }

  #string(kind: string): void {
    const from = this.#at + 2
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters end a string of a terminal.
    const ends = /\u0007|\u001b\\|\u009c/g
    ends.lastIndex = from
    const end = this.#hasNoStringEnd ? null : ends.exec(this.#raw)
    if (!end) {
      this.#hasNoStringEnd = true
      this.#at = from
      return
    }
    this.#at = end.index + end[0].length
    const link = kind === ']' ? /^8;[^;]*;(.*)$/.exec(this.#raw.slice(from, end.index)) : null
    if (link) this.#look = { ...this.#look, href: webAddress(link[1]!) }
  }
}

/** Links of programs lead to the web or nowhere. */
function webAddress(text: string): string | null {
  if (text.length > LONGEST_LINK || !/^https?:\/\//i.test(text)) return null
  return URL.canParse(text) ? new URL(text).href : null
}

/** What is shown of a line: at most this many characters, until the reader asks for the rest. */
export const LONGEST_SHOWN = 10_000

export interface ShownLine {
  readonly runs: readonly TextRun[]
  /** Whether there is more to show. */
  readonly isCut: boolean
}

export function shownOf(raw: string, isWhole: boolean): ShownLine {
  if (isWhole) return { runs: settled(raw), isCut: false }
  const isHuge = raw.length > MOST_SETTLED && lastDrawn(raw) === raw
  const runs = settled(isHuge ? raw.slice(0, MOST_SETTLED) : raw)
  const shown: TextRun[] = []
  let left = LONGEST_SHOWN
  for (const run of runs) {
    if (left <= 0) break
    shown.push(run.text.length <= left ? run : { ...run, text: run.text.slice(0, left) })
    left -= run.text.length
  }
  return { runs: shown, isCut: left < 0 || isHuge }
}

/** The text of a line as it is shown, for searching and copying. */
export const plainText = (raw: string) => settled(raw).reduce((text, run) => text + run.text, '')
