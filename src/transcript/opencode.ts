import { callOf } from './calls.ts'
import { asText, type Fact, type LineReader, titleOf } from './facts.ts'
import { count, type Json, record, text, timeOf } from './json.ts'
import { opencodeUsage } from './usage.ts'

/** Lines of `opencode run --format json`. */
export const readOpencode: LineReader = (line, notes) => {
  if (text(line.type) === null) return null
  const facts = factsOf(line, record(line.part))
  const sessionId = text(line.sessionID)
  if (sessionId !== null && sessionId !== notes.sessionId) {
    notes.sessionId = sessionId
    facts?.unshift({ kind: 'session', title: titleOf(`Session ${sessionId}`) })
  }
  const at = timeOf(line.timestamp)
  return facts?.map((fact) => ({ at, ...fact })) ?? null
}

function factsOf(line: Json, part: Json): Fact[] | null {
  switch (line.type) {
    case 'step_start':
      return []
    case 'text':
    case 'reasoning': {
      const words = text(part.text) ?? ''
      return [{ kind: line.type === 'text' ? 'said' : 'thought', title: titleOf(words), text: words }]
    }
    case 'tool_use':
      return [used(part)]
    case 'step_finish':
      return finished(part)
    case 'error':
      return [failed(record(line.error))]
    default:
      return null
  }
}

function used(part: Json): Fact {
  const state = record(part.state)
  const time = record(state.time)
  const [start, end] = [count(time.start), count(time.end)]
  return {
    ...callOf(text(part.tool) ?? 'tool', state.input),
    callId: text(part.callID),
    output: asText(state.output ?? state.error ?? ''),
    isError: state.status === 'error',
    durationMs: start > 0 && end >= start ? end - start : null,
  }
}

/** One answer of the model: what it used and cost belongs to what it did. More follows if it ended to call tools. */
function finished(part: Json): Fact[] {
  const reason = text(part.reason) ?? 'unknown'
  const { cost } = part
  const costUsd = typeof cost === 'number' && cost >= 0 ? dollars(cost) : null
  const used: Fact = { kind: 'usage', costUsd, ...opencodeUsage(record(part.tokens)) }
  if (reason === 'tool-calls') return [used]
  const isError = reason !== 'stop'
  return [used, { kind: 'ended', title: isError ? titleOf(`Stopped: ${reason}`) : 'Done', isError }]
}

const dollars = (value: number) => {
  const shown = String(value)
  return shown.includes('e') ? value.toFixed(12).replace(/\.?0+$/, '') : shown
}

function failed(error: Json): Fact {
  const data = record(error.data)
  const message = text(data.message) ?? text(error.name) ?? 'an error'
  const isLimit = count(data.statusCode) === 429
  return { kind: isLimit ? 'limited' : 'ended', title: titleOf(message), text: asText(error), isError: true }
}
