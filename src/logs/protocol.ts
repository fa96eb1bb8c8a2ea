/**
 * Stores for the complete output of runs. A log is text: everything the agent wrote, in order, with secrets redacted.
 * Offsets, sizes and checksums refer to that text in UTF-8, however it is stored.
 */

export type LogStoreType = 'local_file' | 'object_store' | 'postgres'

/** Opaque outside its store. */
export interface RunLogHandle {
  store: LogStoreType
  logRef: string
}

export type LogStream = 'stdout' | 'stderr' | 'system'

export interface LogEntry {
  stream: LogStream
  chunk: string
  /** ISO time. */
  ts: string
}

export interface LogSummary {
  bytes: number
  sha256: string
  compressed: boolean
  /** Not everything could be stored: the disk was full, or the log reached its limit. */
  truncated: boolean
}

/** Which bytes belong to which stream, and when they were written. */
export interface LogSpan {
  offset: number
  bytes: number
  stream: LogStream
  ts: string
}

export interface LogPage {
  content: string
  /** Where the content begins: at the first whole character from the offset that was asked for. */
  offset: number
  /** The size of the log now. */
  bytes: number
  /** The start of the next page; null at the end of a finished log. */
  nextOffset: number | null
  spans: LogSpan[]
}

/** The log no longer exists, or this node cannot read it. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable'
}

export interface RunLogStore {
  readonly type: LogStoreType
  begin(run: { workspaceId: string; agentId: string; runId: string }): Promise<RunLogHandle>
  /** Resolves when a crash of this process can no longer lose the entries. */
  append(handle: RunLogHandle, entries: readonly LogEntry[]): Promise<void>
  /** No more entries will come. Idempotent. Works also after the process that wrote the log has ended. */
  finalize(handle: RunLogHandle): Promise<LogSummary>
  read(handle: RunLogHandle, range?: { offset?: number; limitBytes?: number }): Promise<LogPage>
  /** The text of this stream, piece by piece. */
  stream(handle: RunLogHandle, stream: LogStream): AsyncIterable<string>
  delete(handle: RunLogHandle): Promise<void>
}
