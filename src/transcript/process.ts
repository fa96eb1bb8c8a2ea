import { momentOf } from '../pure/words.ts'
import { asText, type Fact, type LineReader, titleOf } from './facts.ts'
import { count, isObject, type Json, text } from './json.ts'
import type { Tokens } from './usage.ts'

/** Lines that any program may report to Baton with: {"baton": "progress", …}, and the JSON line of its result. */
export const readProcess: LineReader = (line) => {
  if ('baton' in line) return reported(line)
  const isFinal = ['result', 'summary', 'usage', 'continue'].some((field) => field in line)
  return isFinal ? [final(line)] : null
}

/** A step that says what the line said. A report without it is invalid, and stays a line of the log: its step would be empty. */
const saying = (words: string | null, fact: (words: string) => Fact): Fact[] | null =>
  words === null || titleOf(words) === '' ? null : [fact(words)]

function reported(line: Json): Fact[] | null {
  switch (line.baton) {
    case 'progress': {
      const percent = typeof line.percent === 'number' ? `${line.percent} %` : null
      const words = [percent, text(line.step)].filter(Boolean).join(' ')
      return saying(words, () => ({ kind: 'said', title: titleOf(words) }))
    }
    case 'status':
      return saying(text(line.message), (said) => ({ kind: 'said', title: titleOf(said), text: said }))
    case 'call':
      return saying(text(line.signature), (signature) => {
        const [tool = ''] = signature.split(' ', 1)
        return {
          kind: 'call',
          tool,
          title: titleOf(signature.slice(tool.length)),
          text: signature,
          isError: line.isError === true,
        }
      })
    case 'session':
      return saying(text(line.sessionId), (id) => ({ kind: 'session', title: titleOf(`Session ${id}`) }))
    case 'checkpoint':
      return [{ kind: 'said', title: 'Saved a checkpoint', text: asText(line.data) }]
    case 'ask':
      return saying(text(line.question), (asked) => ({ kind: 'asked', title: titleOf(asked), text: asked }))
    case 'rate_limit':
      return [{ kind: 'limited', title: titleOf(`Rate limited until ${limitEnd(text(line.until))}`) }]
    default:
      return null
  }
}

const limitEnd = (until: string | null) => (until === null ? 'the limit resets' : momentOf(until))

function final(line: Json): Fact {
  const summary = text(line.summary)
  const words = summary ?? asText(line.result)
  const costUsd = typeof line.costUsd === 'number' || typeof line.costUsd === 'string' ? line.costUsd : null
  return {
    kind: 'ended',
    title: line.continue === true ? 'Continues' : titleOf(words) || 'Done',
    text: words,
    costUsd: costUsd === null ? null : String(costUsd),
    ...usageIn(line.usage),
  }
}

/** One usage, or one for each model. */
function usageIn(usage: unknown): Partial<Tokens> {
  const each = (Array.isArray(usage) ? usage : [usage]).filter(isObject)
  if (each.length === 0) return {}
  const sum = (figure: string) => each.reduce((all, one) => all + count(one[figure]), 0)
  return {
    inputTokens: sum('inputTokens'),
    cachedInputTokens: sum('cachedInputTokens'),
    outputTokens: sum('outputTokens'),
  }
}
