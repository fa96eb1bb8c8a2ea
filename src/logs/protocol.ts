/**
 * Where the whole output of runs is kept. A log is text: everything the agent wrote, in the order it came, secrets blacked out.
 * Offsets, sizes and checksums are of that text in UTF-8, however it is stored.
 */

export type LogStoreType = 'local_file' | 'object_store' | 'postgres'

/** Means something to its store only. */
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
  /** Not all of it could be kept: the disk was full, or the store takes no more. */
  truncated: boolean
}

/** Which bytes were written to which stream, and when. */
export interface LogSpan {
  offset: number
  bytes: number
  stream: LogStream
  ts: string
}

export interface LogPage {
  content: string
  /** Where the next page begins: at the end of a finished log there is none. */
  nextOffset: number | null
  spans: LogSpan[]
}

/** The log is not there any more, or nobody here can read it. */
export class LogUnavailable extends Error {
  override name = 'LogUnavailable'
}

export interface RunLogStore {
  readonly type: LogStoreType
  begin(run: { workspaceId: string; agentId: string; runId: string }): Promise<RunLogHandle>
  /** Resolves when a crash of this process does not lose it any more. */
  append(handle: RunLogHandle, entries: readonly LogEntry[]): Promise<void>
  /** No more will come. Said again, it answers the same. Works too when the process that wrote it is gone. */
  finalize(handle: RunLogHandle): Promise<LogSummary>
  read(handle: RunLogHandle, range?: { offset?: number; limitBytes?: number }): Promise<LogPage>
  /** All that was written to this stream, piece by piece. */
  stream(handle: RunLogHandle, stream: LogStream): AsyncIterable<string>
  delete(handle: RunLogHandle): Promise<void>
}
