import type { Step } from '../../../../src/kinds/run/shapes/transcript.ts'
import { objectIn } from '../../../../src/transcript/json.ts'
import { plainText } from '../../logs/settle.ts'

/** A step in as few lines as a tile has room for. Pure. */

export interface TailLine {
  readonly key: string
  readonly text: string
  readonly look: 'plain' | 'said' | 'quiet' | 'bad'
  /** The step has been running since then: the time is counted behind it. */
  readonly since: number | null
}

const SHELLS = /^(bash|sh|shell|command|exec\w*|run_shell_command|local_shell)$/i
const OUTPUT_LINES = 2
const LOG_LINES = 8
/** Of a command, where there is room for many lines. */
const MANY_OUTPUT_LINES = 12
const MOST_SAID = 240

/** `since`: it is the last step of a live run, whose last output came at that time. */
export function linesOfStep(step: Step, key: string, since: number | null, most = LOG_LINES): TailLine[] {
  const { kind, title, tool, isError, text } = step
  const line = (words: string, look: TailLine['look'] = 'plain', from: number | null = null): TailLine[] => [
    { key, text: words, look: isError ? 'bad' : look, since: from },
  ]
  switch (kind) {
    case 'call':
      return [
        ...line(callWords(step), 'plain', step.isOpen ? startOf(step, since) : null),
        ...outputOf(step, key, most > LOG_LINES ? MANY_OUTPUT_LINES : OUTPUT_LINES),
      ]
    case 'edit':
      return line(`edits ${title}`, 'plain', step.isOpen ? startOf(step, since) : null)
    case 'said':
      return line(inOneLine(text === '' ? title : text), 'said')
    case 'thought':
      return line(thoughtWords(title, since !== null), 'quiet', since)
    case 'asked':
      return line(`asks: ${title}`, 'said', since)
    case 'log':
      return logLines(step, key, most)
    case 'result':
    case 'session':
      return line(title, 'quiet')
    default:
      return line(tool === null ? title : `${tool} ${title}`)
  }
}

const callWords = ({ tool, title }: Step) =>
  tool !== null && SHELLS.test(tool) ? `$ ${title}` : [tool, title].filter(Boolean).join(' ')

const thoughtWords = (title: string, isLast: boolean) =>
  title !== '' && title !== 'Thinks' ? `thinks: ${title}` : isLast ? 'thinks,' : 'thinks'

/** Programs say when a call began; otherwise it is when its output arrived. */
const startOf = ({ at }: Step, since: number | null) => (at === null ? since : Date.parse(at))

/** What a command printed last, and what a failed call said. */
function outputOf({ output, tool, isError }: Step, key: string, count: number): TailLine[] {
  if (output === null || !(isError || SHELLS.test(tool ?? ''))) return []
  return shownLines(output, count).map((text, place) => ({
    key: `${key} output ${place}`,
    text: `  ${text}`,
    look: isError ? 'bad' : 'quiet',
    since: null,
  }))
}

/** A line of unknown JSON is shown by its name at most; all else is shown as it is. */
function logLines({ text, title, isError }: Step, key: string, most: number): TailLine[] {
  const isNamed = objectIn(text) !== null
  const lines = isNamed ? [title] : shownLines(text, most)
  return lines.map((one, place) => ({
    key: `${key} ${place}`,
    text: one,
    look: isError ? 'bad' : isNamed ? 'quiet' : 'plain',
    since: null,
  }))
}

const shownLines = (text: string, count: number) =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-count)
    .map(plainText)

/** The text without the Markdown markers for headings, bold and code. */
const inOneLine = (text: string) =>
  text
    .slice(0, MOST_SAID)
    .replaceAll(/\*\*|`|^#+ /gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
