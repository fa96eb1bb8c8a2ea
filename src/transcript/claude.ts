import { momentOf } from '../pure/words.ts'
import { callOf } from './calls.ts'
import { asText, type Fact, type LineReader, titleOf } from './facts.ts'
import { count, type Json, list, record, text, timeOf } from './json.ts'
import { claudeUsage } from './usage.ts'

/** Lines of `claude --print --output-format stream-json`, and the one of `json`. */
export const readClaude: LineReader = (line, notes) => {
  const at = text(line.timestamp)
  switch (line.type) {
    case 'system':
      return ofSystem(line)
    case 'assistant':
      return ofMessage(line, notes).map((fact) => ({ at, ...fact }))
    case 'user':
      return ofUser(record(line.message)).map((fact) => ({ at, ...fact }))
    case 'rate_limit_event':
      return ofLimit(record(line.rate_limit_info))
    case 'result':
      return [ended(line)]
    // A piece of a message that follows whole.
    case 'stream_event':
      return []
    default:
      return null
  }
}

function ofSystem(line: Json): Fact[] | null {
  if (line.subtype === 'init')
    return [
      {
        kind: 'session',
        title: titleOf(`Session ${text(line.session_id) ?? ''}`),
        text: [text(line.model), text(line.cwd)].filter((part) => part !== null).join('\n'),
      },
    ]
  if (line.subtype === 'api_retry')
    return [{ kind: 'retried', title: 'The API is tried again', text: asText(line) }]
  return SILENT.has(text(line.subtype) ?? '') ? [] : null
}

/** That a request is sent, and what becomes of subagents: their calls and what they say are steps already. */
const SILENT = new Set([
  ...['status', 'background_tasks_changed', 'task_started', 'task_updated', 'task_notification'],
])

function ofMessage(line: Json, notes: Json): Fact[] {
  const message = record(line.message)
  const blocks = list(message.content).map(record)
  if (text(line.error) !== null || line.is_api_error_message === true)
    return blocks.map((block) => ({ ...said(block), isError: true }))
  const facts = blocks.map(factOfBlock)
  const [first] = facts
  if (first) facts[0] = { ...first, ...usedSince(message, notes) }
  return facts
}

function factOfBlock(block: Json): Fact {
  if (block.type === 'thinking' || block.type === 'redacted_thinking') {
    const thought = text(block.thinking) ?? ''
    return { kind: 'thought', title: titleOf(thought) || 'Thinks', text: thought }
  }
  if (block.type !== 'tool_use' && block.type !== 'server_tool_use') return said(block)
  const tool = text(block.name) ?? 'tool'
  const call = callOf(tool, block.input)
  const isQuestion = tool === 'AskUserQuestion'
  return { ...call, ...(isQuestion && { kind: 'asked' }), callId: text(block.id), isOpen: true }
}

const said = (block: Json): Fact => {
  const words = text(block.text) ?? asText(block)
  return { kind: 'said', title: titleOf(words), text: words }
}

/** A message comes in several lines with growing figures: each step gets what was added. */
function usedSince(message: Json, notes: Json) {
  const id = text(message.id)
  if (id === null) return {}
  const used = claudeUsage(record(message.usage))
  const before = notes.message === id ? claudeNotes(notes) : null
  notes.message = id
  notes.used = used
  if (!before) return used
  return {
    inputTokens: Math.max(0, used.inputTokens - before.inputTokens),
    cachedInputTokens: Math.max(0, used.cachedInputTokens - before.cachedInputTokens),
    outputTokens: Math.max(0, used.outputTokens - before.outputTokens),
  }
}

const claudeNotes = ({ used }: Json) => {
  const { inputTokens, cachedInputTokens, outputTokens } = record(used)
  return {
    inputTokens: count(inputTokens),
    cachedInputTokens: count(cachedInputTokens),
    outputTokens: count(outputTokens),
  }
}

function ofUser(message: Json): Fact[] {
  if (typeof message.content === 'string')
    return [{ kind: 'log', title: titleOf(message.content), text: message.content }]
  return list(message.content).map((each) => {
    const block = record(each)
    if (block.type !== 'tool_result') {
      const words = text(block.text) ?? asText(block)
      return { kind: 'log', title: titleOf(words), text: words }
    }
    const output = contentText(block.content)
    const isError = block.is_error === true
    return {
      kind: 'result',
      title: titleOf(output) || (isError ? 'The call failed' : 'Nothing was returned'),
      output,
      isError,
      callId: text(block.tool_use_id),
    }
  })
}

const contentText = (content: unknown): string =>
  Array.isArray(content)
    ? content.map((part) => text(record(part).text) ?? `[${text(record(part).type) ?? 'part'}]`).join('\n')
    : asText(content ?? '')

function ofLimit(info: Json): Fact[] | null {
  const isBeyondPlan = info.isUsingOverage === true
  if ((isBeyondPlan ? info.overageStatus : info.status) !== 'rejected') return null
  const until = timeOf((isBeyondPlan ? info.overageResetsAt : null) ?? info.resetsAt)
  return [
    {
      kind: 'limited',
      title: `Rate limited until ${until ? momentOf(until) : 'the limit resets'}`,
      text: asText(info),
    },
  ]
}

const STOPPED: Record<string, string> = {
  error_max_turns: 'Stopped at its limit of turns',
  error_max_budget_usd: 'Stopped at its budget',
}

/** Errors of the API come as success with `is_error`: the subtype alone says nothing. */
function ended(line: Json): Fact {
  const words =
    text(line.result) ??
    list(line.errors)
      .filter((error) => typeof error === 'string')
      .join('\n')
  const isError = line.is_error !== false
  const status = count(line.api_error_status)
  const title =
    STOPPED[text(line.subtype) ?? ''] ??
    (status > 0 ? `The API answered ${status}` : isError ? titleOf(words) || 'Failed' : 'Done')
  // Its cost may be that of the whole session, over several runs.
  return { kind: 'ended', title, text: words, isError, durationMs: durationIn(line.duration_ms) }
}

const durationIn = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null
