import { randomUUID } from 'node:crypto'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { growingStore } from './growing-store.ts'
import { USUAL_LIMITS } from './limits.ts'
import { type LogIndex, openFinished, Packing, readIndex, summaryOf } from './members.ts'
import type { OpenLog } from './pages.ts'
import { type LogSummary, LogUnavailable, type RunLogStore } from './protocol.ts'
import { isMissing, openBoth, SPANS, TEXT, TRUNCATED } from './raw-log.ts'
import { RawLogs } from './raw-logs.ts'
import { readAt } from './spans.ts'

/**
 * Logs as files of this machine: plain text while a run is in progress, compressed when it is over, unless told otherwise. The
 * index is written last: if it exists, the log is finished; if not, the plain text still exists.
 */

const COMPRESSED = '.log.gz'
/** The text of a finished log that is not compressed: under another name, so that nothing is appended to it. */
const PLAIN = '.txt'
/**
 * Two names, so that two processes of which only one compresses may finish the same log: the index of the compressed one
 * counts, whichever was written last, since its process removes the plain text.
 */
const INDEXES = { gzip: '.json', plain: '.plain.json' }
const PART = '.part'

export function localFileStore(folder: string, limits = USUAL_LIMITS, compress = true): RunLogStore {
  const logs = new RawLogs(folder, limits)
  return growingStore('local_file', logs, {
    open: (logRef) => openLog(logs, logRef),
    finish: (logRef) => finish(logs, logRef, compress),
    async remove(logRef) {
      await removeParts(logs.pathOf(logRef))
      await logs.remove(logRef, [TEXT, PLAIN, TRUNCATED, COMPRESSED, SPANS, ...Object.values(INDEXES)])
    },
  })
}

async function indexAt(path: string): Promise<LogIndex | null> {
  for (const ending of Object.values(INDEXES))
    try {
      return readIndex(await readFile(path + ending, 'utf8'))
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  return null
}

async function finish(logs: RawLogs, logRef: string, compress: boolean): Promise<LogSummary> {
  const path = logs.pathOf(logRef)
  if (!(await indexAt(path))) {
    const closed = await logs.close(logRef)
    // If the text is missing, another process may have finished the log just now.
    if (closed)
      await store(path, { isTruncated: closed.isTruncated, compress }).catch(async (error) => {
        if (!(await indexAt(path))) throw error
      })
  }
  const index = await indexAt(path)
  if (!index) throw new LogUnavailable('The log was deleted.')
  if (!index.compressed) await rename(path + TEXT, path + PLAIN).catch(unlessMissing)
  for (const ending of index.compressed ? [TEXT, PLAIN, TRUNCATED] : [TRUNCATED])
    await rm(path + ending, { force: true })
  await removeParts(path)
  logs.forget(logRef)
  return summaryOf(index)
}

async function store(path: string, how: { isTruncated: boolean; compress: boolean }): Promise<void> {
  const packing = new Packing(path, how)
  if (how.compress) await writeDurably(path + COMPRESSED, packing.members())
  else {
    // This fills the index; the text is renamed when the index is written.
    for await (const _ of packing.members());
    await syncFile(path + TEXT)
  }
  await syncFile(path + SPANS)
  const index = Buffer.from(JSON.stringify(packing.index))
  await writeDurably(path + (how.compress ? INDEXES.gzip : INDEXES.plain), [index])
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path)
  await file.sync().finally(() => file.close())
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
    (await openIndexed(path)) ??
    (await logs.open(logRef, false)) ??
    // It may have been finished between the two checks.
    (await openIndexed(path))
  if (!log) throw new LogUnavailable('The log was deleted.')
  return log
}

async function openIndexed(path: string): Promise<OpenLog | null> {
  const index = await indexAt(path)
  if (!index) return null
  // The plain text gets its name after its index, possibly at this moment.
  for (const ending of index.compressed ? [COMPRESSED] : [PLAIN, TEXT, PLAIN]) {
    const [text, spans, close] = await openBoth(path + ending, path + SPANS)
    if (text && spans)
      return openFinished(index, {
        text: (from, to) => readAt(text, from, to),
        spans: (from, to) => readAt(spans, from, to),
        close,
      })
    await close()
  }
  // Another process may have compressed it since the index was read.
  if (!index.compressed && (await indexAt(path))?.compressed) return openIndexed(path)
  throw new LogUnavailable('The log was deleted.')
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error
}
