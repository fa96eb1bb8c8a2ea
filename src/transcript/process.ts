import { asText, type Fact, type LineReader, titleOf } from './facts.ts'
import { count, isObject, type Json, text } from './json.ts'
import type { Tokens } from './usage.ts'

/** Lines that any program may report to Baton with: {"baton": "progress", …}, and the JSON line of its result. */
export const readProcess: LineReader = (line) => {
  if ('baton' in line) return reported(line)
  const isFinal = ['result', 'summary', 'usage', 'continue'].some((field) => field in line)
  return isFinal ? [final(line)] : null
}

function reported(line: Json): Fact[] | null {
  switch (line.baton) {
    case 'progress': {
      const percent = typeof line.percent === 'number' ? `${line.percent} %` : null
      return [{ kind: 'said', title: titleOf([percent, text(line.step)].filter(Boolean).join(' ')) }]
    }
    case 'status':
      return [{ kind: 'said', title: titleOf(text(line.message) ?? ''), text: text(line.message) }]
    case 'call': {
      const signature = text(line.signature) ?? ''
      const [tool = ''] = signature.split(' ', 1)
      return [
        {
          kind: 'call',
          tool,
          title: titleOf(signature.slice(tool.length)),
          text: signature,
          isError: line.isError === true,
        },
      ]
    }
    case 'session':
      return [{ kind: 'session', title: titleOf(`Session ${text(line.sessionId) ?? ''}`) }]
    case 'checkpoint':
      return [{ kind: 'said', title: 'Saved a checkpoint', text: asText(line.data) }]
    case 'ask':
      return [{ kind: 'asked', title: titleOf(text(line.question) ?? ''), text: text(line.question) }]
    case 'rate_limit':
      return [{ kind: 'limited', title: `Rate limited until ${text(line.until) ?? 'the limit resets'}` }]
    default:
      return null
  }
}

function final(line: Json): Fact {
  const summary = text(line.summary)
  const words = summary ?? asText(line.result)
  const costUsd = typeof line.costUsd === 'number' || typeof line.costUsd === 'string' ? line.costUsd : null
  return {
    kind: 'ended',
    title: line.continue === true ? 'Continues' : titleOf(words) || 'Done',
    text: words,
    costUsd: costUsd === null ? null : String(costUsd),
    ...(isObject(line.usage) && usageIn(line.usage)),
  }
}

const usageIn = (usage: Json): Tokens => ({
  inputTokens: count(usage.inputTokens),
  cachedInputTokens: count(usage.cachedInputTokens),
  outputTokens: count(usage.outputTokens),
})
