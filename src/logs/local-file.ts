import { randomUUID } from 'node:crypto'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { growingStore } from './growing-store.ts'
import { USUAL_LIMITS } from './limits.ts'
import { Compression, openFinished, readIndex, summaryOf } from './members.ts'
import type { OpenLog } from './pages.ts'
import { type LogSummary, LogUnavailable, type RunLogStore } from './protocol.ts'
import { isMissing, openBoth, SPANS, TEXT, TRUNCATED } from './raw-log.ts'
import { RawLogs } from './raw-logs.ts'
import { readAt } from './spans.ts'

/**
 * Logs as files of this machine: plain text while a run is in progress, compressed when it is over. The index is written
 * last: if it exists, the log is finished; if not, the plain text still exists.
 */

const COMPRESSED = '.log.gz'
const INDEX = '.json'
const PART = '.part'

export function localFileStore(folder: string, limits = USUAL_LIMITS): RunLogStore {
  const logs = new RawLogs(folder, limits)
  return growingStore('local_file', logs, {
    open: (logRef) => openLog(logs, logRef),
    finish: (logRef) => finish(logs, logRef),
    async remove(logRef) {
      await removeParts(logs.pathOf(logRef))
      await logs.remove(logRef, [TEXT, TRUNCATED, COMPRESSED, SPANS, INDEX])
    },
  })
}

async function indexAt(path: string) {
  try {
    return readIndex(await readFile(path + INDEX, 'utf8'))
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function finish(logs: RawLogs, logRef: string): Promise<LogSummary> {
  const path = logs.pathOf(logRef)
  if (!(await indexAt(path))) {
    const closed = await logs.close(logRef)
    // If the text is missing, another process may have finished the log just now.
    if (closed)
      await compress(path, closed.isTruncated).catch(async (error) => {
        if (!(await indexAt(path))) throw error
      })
  }
  const index = await indexAt(path)
  if (!index) throw new LogUnavailable('The log was deleted.')
  for (const ending of [TEXT, TRUNCATED]) await rm(path + ending, { force: true })
  await removeParts(path)
  logs.forget(logRef)
  return summaryOf(index)
}

async function compress(path: string, isTruncated: boolean): Promise<void> {
  const compression = new Compression(path, isTruncated)
  await writeDurably(path + COMPRESSED, compression.members())
  const spans = await open(path + SPANS)
  await spans.sync().finally(() => spans.close())
  await writeDurably(path + INDEX, [Buffer.from(JSON.stringify(compression.index))])
}

/** Atomic: the file exists completely or not at all, even after a power cut. */
async function writeDurably(path: string, pieces: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<void> {
  const part = `${path}.${randomUUID()}${PART}`
  const file = await open(part, 'wx', 0o600)
  try {
    for await (const piece of pieces) await file.writeFile(piece)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, path)
  const folder = await open(dirname(path))
  await folder.sync().finally(() => folder.close())
}

/** Removes what a crash during finishing may have left. */
async function removeParts(path: string): Promise<void> {
  const names = await readdir(dirname(path)).catch(() => [])
  for (const name of names)
    if (name.startsWith(`${basename(path)}.`) && name.endsWith(PART))
      await rm(join(dirname(path), name), { force: true })
}

async function openLog(logs: RawLogs, logRef: string): Promise<OpenLog> {
  const path = logs.pathOf(logRef)
  const log =
    (await openCompressed(path)) ??
    (await logs.open(logRef, false)) ??
    // It may have been finished between the two checks.
    (await openCompressed(path))
  if (!log) throw new LogUnavailable('The log was deleted.')
  return log
}

async function openCompressed(path: string): Promise<OpenLog | null> {
  const index = await indexAt(path)
  if (!index) return null
  const [text, spans, close] = await openBoth(path + COMPRESSED, path + SPANS)
  if (!text || !spans) {
    await close()
    throw new LogUnavailable('The log was deleted.')
  }
  return openFinished(index, {
    text: (from, to) => readAt(text, from, to),
    spans: (from, to) => readAt(spans, from, to),
    close,
  })
}
