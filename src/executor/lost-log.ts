import type { AgentRunAdapter, ReadFromLog } from '../adapters/protocol.ts'
import type { RunLogHandle, RunLogStore } from '../logs/protocol.ts'
import { EXCERPT_BYTES, Excerpt } from './excerpt.ts'
import { FirstAndLast, linesOf } from './lines.ts'

/**
 * Reads the facts of a lost run from its log. The log is streamed: it may be larger than memory, and the logs of all runs of
 * a lost node are read when the next node starts.
 */
export async function readLostLog(
  store: RunLogStore,
  handle: RunLogHandle,
  adapter: Pick<AgentRunAdapter, 'readLines' | 'readLineStream'> | undefined,
  state: Record<string, unknown>,
  excerptBytes = EXCERPT_BYTES,
): Promise<{ read: ReadFromLog; excerpts: { stdout: string | null; stderr: string | null } }> {
  const [stdout, stderr] = [new Excerpt(excerptBytes), new Excerpt(excerptBytes)]
  const lines = objectsIn(linesOf(store.stream(handle, 'stdout'), (text) => stdout.take(text)))
  // An adapter may stop before the end, which would close the iterator here too; the excerpt needs all lines.
  const read = await readBy(adapter, { [Symbol.asyncIterator]: () => ({ next: () => lines.next() }) }, state)
  for await (const _ of lines);
  for await (const text of store.stream(handle, 'stderr')) stderr.take(text)
  return { read, excerpts: { stdout: stdout.text(), stderr: stderr.text() } }
}

async function* objectsIn(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) if (line.trimStart().startsWith('{')) yield line
}

async function readBy(
  adapter: Pick<AgentRunAdapter, 'readLines' | 'readLineStream'> | undefined,
  lines: AsyncIterable<string>,
  state: Record<string, unknown>,
): Promise<ReadFromLog> {
  if (adapter?.readLineStream) return adapter.readLineStream(lines, state)
  if (!adapter?.readLines) return {}
  const kept = new FirstAndLast()
  for await (const line of lines) kept.take(line)
  return adapter.readLines(kept, state)
}
