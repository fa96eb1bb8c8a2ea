import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Bucket, type ObjectStore, objectStore } from '../../src/logs/object-store.ts'
import { LogUnavailable } from '../../src/logs/protocol.ts'
import { s3Bucket } from '../../src/logs/s3-bucket.ts'
import { entry, readThrough } from '../support/log-stores.ts'
import { S3_CREDENTIALS, startS3 } from '../support/s3.ts'

let server: Awaited<ReturnType<typeof startS3>>
let bucket: Bucket
let spoolFolder: string
let logs: ObjectStore
beforeAll(async () => {
  server = await startS3()
  bucket = await s3Bucket(server.settings, S3_CREDENTIALS)
})
afterAll(async () => {
  bucket?.close()
  await server?.stop()
})
beforeEach(async () => {
  spoolFolder = await mkdtemp(join(tmpdir(), 'baton-spool-'))
  logs = objectStore({ bucket, spoolFolder })
})
afterEach(() => rm(spoolFolder, { recursive: true, force: true }))

const begin = (store = logs) => store.begin({ workspaceId: '1', agentId: 'agent-1', runId: randomUUID() })
/** A bucket in which one operation fails. */
const but = (wrong: Partial<Bucket>): Bucket => ({ ...bucket, ...wrong })

test('a finished log is in the bucket below the prefix, and the folder is empty', async () => {
  const handle = await begin()
  await logs.append(handle, [entry('text')])
  expect((await readdir(spoolFolder, { recursive: true })).length).toBeGreaterThan(2)
  await logs.finalize(handle)
  expect(await readdir(spoolFolder)).toEqual([])
  const names = await readdir(join(server.folder, 'run-logs/baton/1/agent-1'))
  for (const ending of ['.log.gz', '.spans', '.json'])
    expect(names).toContainEqual(expect.stringContaining(`${handle.logRef.split('/')[2]}${ending}`))
  await logs.delete(handle)
  const left = await readdir(join(server.folder, 'run-logs'), { recursive: true })
  expect(left.filter((name) => name.includes(handle.logRef.split('/')[2]!))).toEqual([])
})

test('a large log is uploaded in parts, and its pages are fetched separately', async () => {
  const handle = await begin()
  const line = Array.from({ length: 200_000 }, () => Math.random().toString(36)).join(' ')
  for (let i = 0; i < 8; i++) await logs.append(handle, [entry(line)])
  await logs.finalize(handle)
  // More than the maximum size of a part.
  expect(await bucket.bytes(`${handle.logRef}.log.gz`)).toBeGreaterThan(10 * 1024 * 1024)
  let fetched = 0
  const watched = objectStore({
    spoolFolder,
    bucket: but({
      async readRange(key, from, to) {
        fetched += to - from
        return bucket.readRange(key, from, to)
      },
    }),
  })
  const offset = 5 * line.length + 17
  expect(await watched.read(handle, { offset, limitBytes: 1000 })).toMatchObject({
    content: line.slice(17, 1017),
    nextOffset: offset + 1000,
  })
  expect(fetched).toBeLessThan(2 * 1024 * 1024)
})

test('an unreachable bucket loses nothing: the log waits in the folder and is uploaded later', async () => {
  const refusing = objectStore({
    spoolFolder,
    bucket: await s3Bucket({ ...server.settings, endpoint: 'http://127.0.0.1:9' }, S3_CREDENTIALS),
  })
  const handle = await begin(refusing)
  await refusing.append(handle, [entry('text')])
  expect(await refusing.pending()).toEqual([])
  await expect(refusing.finalize(handle)).rejects.toThrow()
  expect(await refusing.pending()).toEqual([handle])
  // It is finished, wherever it is stored.
  expect(await refusing.read(handle)).toMatchObject({ content: 'text', nextOffset: null })
  await expect(refusing.append(handle, [entry('late')])).rejects.toThrow(LogUnavailable)
  for (const waiting of await logs.pending())
    expect(await logs.finalize(waiting)).toMatchObject({ bytes: 4, truncated: false })
  expect(await logs.pending()).toEqual([])
  expect(await logs.read(handle)).toMatchObject({ content: 'text', nextOffset: null })
})

test('whatever fails during the upload, the folder keeps the log until it is complete', async () => {
  const wrongs: Partial<Bucket>[] = [
    {
      put: (key, pieces) =>
        key.endsWith('.log.gz') ? Promise.reject(new Error('no')) : bucket.put(key, pieces),
    },
    {
      put: (key, pieces) =>
        key.endsWith('.spans') ? Promise.reject(new Error('no')) : bucket.put(key, pieces),
    },
    {
      put: (key, pieces) =>
        key.endsWith('.json') ? Promise.reject(new Error('no')) : bucket.put(key, pieces),
    },
    { put: async (key, pieces) => bucket.put(key, key.endsWith('.log.gz') ? [Buffer.from('a')] : pieces) },
    { bytes: async () => null },
  ]
  for (const wrong of wrongs) {
    const failing = objectStore({ spoolFolder, bucket: but(wrong) })
    const handle = await begin(failing)
    await failing.append(handle, [entry('text')])
    await expect(failing.finalize(handle)).rejects.toThrow()
    const elsewhere = objectStore({ bucket, spoolFolder: `${spoolFolder}-of-another` })
    await expect(elsewhere.read(handle)).rejects.toThrow(LogUnavailable)
    expect(await failing.read(handle)).toMatchObject({ content: 'text' })
    expect(await logs.finalize(handle)).toMatchObject({ bytes: 4 })
    expect(await elsewhere.read(handle)).toMatchObject({ content: 'text', nextOffset: null })
    expect(await logs.pending()).toEqual([])
  }
})

test('a log that is in the bucket already is not uploaded again after a crash', async () => {
  const handle = await begin()
  await logs.append(handle, [entry('text')])
  const summary = await logs.finalize(handle)
  // The folder as it is when the process ends before it is cleared.
  const [, agentId, runId] = handle.logRef.split('/') as [string, string, string]
  await logs.begin({ workspaceId: '1', agentId, runId })
  await logs.append(handle, [entry('text')])
  let puts = 0
  const counting = objectStore({
    spoolFolder,
    bucket: but({
      async put(key, pieces) {
        puts++
        await bucket.put(key, pieces)
      },
    }),
  })
  expect(await counting.finalize(handle)).toEqual(summary)
  expect(puts).toBe(0)
})

test('another node reads finished logs, and of an unfinished one says that its writer is unknown', async () => {
  const otherFolder = await mkdtemp(join(tmpdir(), 'baton-spool-'))
  try {
    const elsewhere = objectStore({ bucket, spoolFolder: otherFolder })
    const handle = await begin()
    await logs.append(handle, [entry('text')])
    for (const ask of [() => elsewhere.read(handle), () => elsewhere.finalize(handle)])
      await expect(ask()).rejects.toThrow(
        'The log is not in the bucket: it was deleted, or another node is still writing it.',
      )
    const summary = await logs.finalize(handle)
    expect(await elsewhere.finalize(handle)).toEqual(summary)
    expect((await readThrough(elsewhere, handle)).content).toBe('text')
    await logs.delete(handle)
    await expect(elsewhere.read(handle)).rejects.toThrow(LogUnavailable)
  } finally {
    await rm(otherFolder, { recursive: true, force: true })
  }
})

test('a bucket that does not answer makes a log unavailable, with the reason', async () => {
  const handle = await begin()
  await logs.finalize(handle)
  const failing = objectStore({
    spoolFolder,
    bucket: but({ read: () => Promise.reject(new Error('slow down')) }),
  })
  await expect(failing.read(handle)).rejects.toThrow('The log cannot be read from the bucket: slow down')
})
