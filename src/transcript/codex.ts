import { callOf } from './calls.ts'
import { asText, type Fact, type LineReader, titleOf } from './facts.ts'
import { count, type Json, list, record, text } from './json.ts'

/** Lines of `codex exec --json`. */
export const readCodex: LineReader = (line) => {
  switch (line.type) {
    case 'thread.started':
      return [{ kind: 'session', title: titleOf(`Session ${text(line.thread_id) ?? ''}`) }]
    case 'turn.started':
      return []
    case 'item.started':
      return ofItem(record(line.item), true)
    case 'item.updated':
      return []
    case 'item.completed':
      return ofItem(record(line.item), false)
    case 'turn.completed':
      return [{ kind: 'ended', title: 'Done', text: usedInThread(record(line.usage)) }]
    case 'turn.failed': {
      const message = text(record(line.error).message) ?? 'The turn failed.'
      return [{ kind: 'ended', title: titleOf(message), text: message, isError: true }]
    }
    case 'error': {
      // It may be temporary: codex reconnects automatically, and reports turn.failed when it gives up.
      const message = text(line.message) ?? 'An error of the connection'
      return [{ kind: 'retried', title: titleOf(message), text: message }]
    }
    default:
      return null
  }
}

/** Counters of a thread, over all its runs: what one turn used is not in them. */
function usedInThread(usage: Json): string {
  const [input, cached, output] = [
    count(usage.input_tokens),
    count(usage.cached_input_tokens),
    count(usage.output_tokens),
  ]
  const written = count(usage.cache_write_input_tokens)
  const writes = written === 0 ? '' : ` and ${written} written to the cache`
  return `The thread has used ${input} input tokens, ${cached} of them cached${writes}, and ${output} output tokens.`
}

function ofItem(item: Json, isOpen: boolean): Fact[] | null {
  const callId = text(item.id)
  switch (item.type) {
    case 'agent_message':
      return isOpen ? [] : [spoken('said', item)]
    case 'reasoning':
      return isOpen ? [] : [spoken('thought', item)]
    case 'error':
      // A warning: turn.failed and the exit code say whether the run failed.
      return isOpen ? [] : [{ kind: 'log', title: `Warning: ${titleOf(message(item))}`, text: message(item) }]
    case 'command_execution': {
      const call = callOf('command', { command: text(item.command) ?? '' })
      return [ended({ ...call, callId }, item, isOpen, text(item.aggregated_output) ?? '')]
    }
    case 'mcp_tool_call': {
      const call = callOf([text(item.server), text(item.tool)].join('.'), item.arguments)
      return [ended({ ...call, callId }, item, isOpen, asText(item.result ?? item.error ?? ''))]
    }
    case 'web_search': {
      const call = callOf('web_search', { query: text(item.query) ?? '' })
      return [ended({ ...call, callId }, item, isOpen, '')]
    }
    case 'file_change':
      return [ended({ ...changed(list(item.changes).map(record)), callId }, item, isOpen, '')]
    default:
      return null
  }
}

const message = (item: Json) => text(item.message) ?? 'unspecified'

const spoken = (kind: 'said' | 'thought', item: Json): Fact => {
  const words = text(item.text) ?? ''
  return { kind, title: titleOf(words), text: words }
}

function changed(changes: Json[]): Fact {
  const lines = changes.map(({ kind, path }) => `${text(kind) ?? 'change'} ${text(path) ?? ''}`)
  const title = lines.length === 1 ? lines[0]! : `${lines.length} files`
  return { kind: 'edit', tool: 'file_change', title: titleOf(title), text: lines.join('\n') }
}

function ended(call: Fact, item: Json, isOpen: boolean, output: string): Fact {
  if (isOpen) return { ...call, isOpen }
  const isError =
    item.status === 'failed' ||
    item.status === 'declined' ||
    (item.exit_code ?? 0) !== 0 ||
    item.error != null
  return { ...call, output, isError }
}
