import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import type { LogEntry, LogSpan, LogStream, RunLogHandle, RunLogStore } from '../../src/logs/protocol.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from './database.ts'
import { type LogPlace, openLogs } from './log-places.ts'
import { S3_CREDENTIALS, startS3 } from './s3.ts'

export interface LogsUnderTest {
  logs: RunLogStore
  place: LogPlace
  /** The same logs, as a process sees them that starts later. */
  another(compress?: boolean): Promise<RunLogStore>
  workspaceId: string
  close(): Promise<void>
}

/** Every log store Baton has, empty. One suite runs on all of them. Postgres compresses its rows itself. */
export const openLogStore: Record<LogPlace['store'], (compress?: boolean) => Promise<LogsUnderTest>> = {
  async local_file(compress = true) {
    const folder = await mkdtemp(join(tmpdir(), 'baton-logs-'))
    return underTest({ store: 'local_file', folder, compress }, '1', () =>
      rm(folder, { recursive: true, force: true }),
    )
  },

  async object_store(compress = true) {
    const folder = await mkdtemp(join(tmpdir(), 'baton-spool-'))
    const server = await startS3()
    const s3 = { s3: server.settings, credentials: S3_CREDENTIALS }
    const place = { store: 'object_store', folder, compress, ...s3 } as const
    return underTest(place, '1', async () => {
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    })
  },

  async postgres() {
    const database = await freshDatabase()
    const store = await PostgresStore.open(database.url)
    const { workspaceId } = await createWorkspace(store, 'test', 'test')
    await store.close()
    return underTest({ store: 'postgres', url: database.url }, String(workspaceId), database.drop)
  },
}

async function underTest(place: LogPlace, workspaceId: string, remove: () => Promise<void>) {
  const opened = [await openLogs(place)]
  return {
    logs: opened[0]!.logs,
    place,
    workspaceId,
    async another(compress?: boolean) {
      const other = await openLogs(compress === undefined ? place : { ...place, compress })
      opened.push(other)
      return other.logs
    },
    async close() {
      for (const { close } of opened) await close()
      await remove()
    },
  }
}

export const beginLog = ({ logs, workspaceId }: LogsUnderTest): Promise<RunLogHandle> =>
  logs.begin({ workspaceId, agentId: 'agent-1', runId: randomUUID() })

let milliseconds = Date.UTC(2026, 0, 1)

export const entry = (chunk: string, stream: LogStream = 'stdout'): LogEntry => ({
  stream,
  chunk,
  ts: new Date(milliseconds++).toISOString(),
})

/** All pages of a log, from the first to its current end. */
export async function readThrough(logs: RunLogStore, handle: RunLogHandle, limitBytes?: number) {
  let content = ''
  const spans: LogSpan[] = []
  for (let offset = 0; ; ) {
    const page = await logs.read(handle, { offset, ...(limitBytes !== undefined && { limitBytes }) })
    content += page.content
    spans.push(...page.spans)
    if (page.nextOffset === null || page.nextOffset === offset)
      return { content, spans: joined(spans), nextOffset: page.nextOffset }
    offset = page.nextOffset
  }
}

/** Joins spans that pages or stores split. */
export function joined(spans: readonly LogSpan[]): LogSpan[] {
  const whole: LogSpan[] = []
  for (const span of spans) {
    const last = whole.at(-1)
    if (
      last &&
      last.stream === span.stream &&
      last.ts === span.ts &&
      last.offset + last.bytes === span.offset
    )
      last.bytes += span.bytes
    else whole.push({ ...span })
  }
  return whole
}

export async function streamed(logs: RunLogStore, handle: RunLogHandle, stream: LogStream): Promise<string> {
  let content = ''
  for await (const piece of logs.stream(handle, stream)) content += piece
  return content
}
