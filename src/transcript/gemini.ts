import { callOf } from './calls.ts'
import { asText, type Fact, type LineReader, titleOf } from './facts.ts'
import { count, type Json, record, text } from './json.ts'
import { geminiUsage } from './usage.ts'

/** Lines of `gemini --output-format stream-json`. */
export const readGemini: LineReader = (line) => {
  const fact = factOf(line)
  return fact && [{ at: text(line.timestamp), ...fact }]
}

function factOf(line: Json): Fact | null {
  switch (line.type) {
    case 'init':
      return {
        kind: 'session',
        title: titleOf(`Session ${text(line.session_id) ?? ''}`),
        text: text(line.model),
      }
    case 'message': {
      const words = text(line.content) ?? ''
      if (line.role !== 'assistant') return { kind: 'log', title: titleOf(words), text: words }
      return { kind: 'said', title: titleOf(words), text: words, isPiece: line.delta === true }
    }
    case 'tool_use': {
      const call = callOf(text(line.tool_name) ?? 'tool', line.parameters)
      return { ...call, callId: text(line.tool_id), isOpen: true }
    }
    case 'tool_result': {
      const isError = line.status === 'error'
      const output = asText(line.output ?? line.error ?? '')
      const title = titleOf(output) || (isError ? 'The call failed' : 'Nothing was returned')
      return { kind: 'result', title, output, isError, callId: text(line.tool_id) }
    }
    case 'error': {
      const message = text(line.message) ?? 'unspecified'
      return { kind: 'log', title: `Warning: ${titleOf(message)}`, text: message }
    }
    case 'result':
      return ended(line)
    default:
      return null
  }
}

function ended(line: Json): Fact {
  const stats = record(line.stats)
  const isError = line.status !== 'success'
  const message = text(record(line.error).message)
  return {
    kind: 'ended',
    title: isError ? titleOf(message ?? 'Failed') : 'Done',
    text: message ?? '',
    isError,
    durationMs: 'duration_ms' in stats ? count(stats.duration_ms) : null,
    ...geminiUsage(stats),
  }
}
