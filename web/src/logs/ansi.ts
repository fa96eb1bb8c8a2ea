/**
 * Select Graphic Rendition as class names. Colours of programs become one of the theme's sixteen (theme/ansi.css), legible in light and
 * dark. A style ends with its line: where a window begins in the middle of a log, the earlier style is not known.
 */

type Mark = 'bold' | 'dim' | 'italic' | 'underline' | 'inverse' | 'strike'

export interface Sgr {
  /** 0 to 15. */
  readonly ink: number | null
  readonly paper: number | null
  readonly marks: ReadonlySet<Mark>
}

export const PLAIN: Sgr = { ink: null, paper: null, marks: new Set() }

const ON: Record<number, Mark> = {
  1: 'bold',
  2: 'dim',
  3: 'italic',
  4: 'underline',
  7: 'inverse',
  9: 'strike',
  21: 'underline',
}
const OFF: Record<number, readonly Mark[]> = {
  22: ['bold', 'dim'],
  23: ['italic'],
  24: ['underline'],
  27: ['inverse'],
  29: ['strike'],
}

/** The style after a sequence with these parameters: `1;31`, `38;2;255;0;0`, `38:5:196`. */
export function afterSgr(before: Sgr, parameters: string): Sgr {
  const codes = parameters.split(/[;:]/).map((text) => (text === '' ? 0 : Number(text)))
  let style = before
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at]!
    if (code === 38 || code === 48) {
      const { colour, used } = extendedColour(codes, at + 1)
      if (colour !== null) style = { ...style, [code === 38 ? 'ink' : 'paper']: colour }
      at += used
    } else style = afterCode(style, code)
  }
  return style
}

function afterCode(style: Sgr, code: number): Sgr {
  const set = ON[code]
  const ended = OFF[code]
  if (code === 0) return PLAIN
  if (set) return { ...style, marks: new Set([...style.marks, set]) }
  if (ended) return { ...style, marks: new Set([...style.marks].filter((mark) => !ended.includes(mark))) }
  if (code >= 30 && code <= 37) return { ...style, ink: code - 30 }
  if (code === 39) return { ...style, ink: null }
  if (code >= 40 && code <= 47) return { ...style, paper: code - 40 }
  if (code === 49) return { ...style, paper: null }
  if (code >= 90 && code <= 97) return { ...style, ink: code - 82 }
  if (code >= 100 && code <= 107) return { ...style, paper: code - 92 }
  return style
}

/** `5;n` of 256 colours or `2;r;g;b`, and how many codes it used. */
function extendedColour(codes: readonly number[], at: number): { colour: number | null; used: number } {
  if (codes[at] === 5) return { colour: of256(codes[at + 1]), used: 2 }
  if (codes[at] === 2) return { colour: nearest(codes[at + 1], codes[at + 2], codes[at + 3]), used: 4 }
  return { colour: null, used: 1 }
}

function of256(index: number | undefined): number | null {
  if (index === undefined || !(index >= 0 && index <= 255)) return null
  if (index < 16) return index
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10
    return nearest(grey, grey, grey)
  }
  const level = (value: number) => (value === 0 ? 0 : 55 + value * 40)
  const cube = index - 16
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

/** Red, yellow, green, cyan, blue, magenta around the circle of hues. */
const HUES = [1, 3, 2, 6, 4, 5]

/** The colour of the same hue. Greys keep their order of lightness. */
function nearest(red = -1, green = -1, blue = -1): number | null {
  const most = Math.max(red, green, blue)
  const least = Math.min(red, green, blue)
  if (!(least >= 0 && most <= 255)) return null
  const chroma = most - least
  if (chroma < 32 || chroma < most * 0.2) return most < 64 ? 0 : most < 160 ? 8 : 7
  const sector =
    most === red
      ? (green - blue) / chroma + 6
      : most === green
        ? (blue - red) / chroma + 2
        : (red - green) / chroma + 4
  return HUES[Math.round(sector) % 6]!
}

const CLASSES: Record<Exclude<Mark, 'inverse'>, string> = {
  bold: 'font-semibold',
  dim: 'text-muted',
  italic: 'italic',
  underline: 'underline',
  strike: 'line-through',
}

/** The classes of a style, '' for plain text. Inverse text keeps its colour, on a tint of it: full colour behind text is too strong. */
export function classesOf({ ink, paper, marks }: Sgr): string {
  const names = [...marks].flatMap((mark) => (mark === 'inverse' ? [] : [CLASSES[mark]]))
  const isInverse = marks.has('inverse')
  const ground = isInverse ? ink : paper
  if (ink !== null) names.push(`ansi-${ink}`)
  if (ground !== null) names.push(`ansi-bg-${ground}`)
  else if (isInverse) names.push('bg-ink text-bg')
  return names.sort().join(' ')
}
