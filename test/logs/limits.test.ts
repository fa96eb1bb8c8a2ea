import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { RunLogRows } from '../../src/kinds/run/postgres/run-logs.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { type LogLimits, USUAL_LIMITS } from '../../src/logs/limits.ts'
import { localFileStore } from '../../src/logs/local-file.ts'
import { type Bucket, objectStore } from '../../src/logs/object-store.ts'
import { postgresStore } from '../../src/logs/postgres.ts'
import type { RunLogHandle, RunLogStore } from '../../src/logs/protocol.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from '../support/database.ts'
import { entry, streamed } from '../support/log-stores.ts'

/** The output of a run is stored up to a limit, and while the disk has room; on every log store. */

const MAX = 20
const FLOOR = 1_000
const ENDS_HERE = `\n[The log ends here: it reached its limit of ${MAX} bytes. The run continued.]\n`
const IS_SHORT = `\n[Output is not stored from here on: less than ${FLOOR} bytes of disk are free.]\n`

let folder: string
let database: Awaited<ReturnType<typeof freshDatabase>>
let store: PostgresStore
let workspaceId: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-log-limits-'))
  database = await freshDatabase()
  store = await PostgresStore.open(database.url)
  workspaceId = String((await createWorkspace(store, 'one', 'test')).workspaceId)
})
afterAll(async () => {
  await store?.close()
  await database?.drop()
  await rm(folder, { recursive: true, force: true })
})

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** A bucket in memory. */
function bucketOf(): Bucket {
  const objects = new Map<string, Buffer>()
  return {
    async put(key, pieces) {
      const all: Buffer[] = []
      for await (const piece of pieces) all.push(piece)
      objects.set(key, Buffer.concat(all))
    },
    read: async (key) => objects.get(key) ?? null,
    readRange: async (key, from, to) => objects.get(key)?.subarray(from, to) ?? null,
    bytes: async (key) => objects.get(key)?.length ?? null,
    delete: async (key) => void objects.delete(key),
    close: () => undefined,
  }
}

/** Every store with these limits; each call opens it again, on the same logs. */
const stores: Record<string, () => (limits: LogLimits) => RunLogStore> = {
  local_file: () => (limits) => localFileStore(join(folder, 'files'), limits),
  object_store: () => {
    const bucket = bucketOf()
    return (limits) => objectStore({ bucket, spoolFolder: join(folder, 'spool'), limits })
  },
  postgres: () => (limits) => postgresStore(new RunLogRows(store), { limits, folder }),
}

const begin = (logs: RunLogStore) => logs.begin({ workspaceId, agentId: 'agent-1', runId: randomUUID() })
const contentOf = async (logs: RunLogStore, handle: RunLogHandle) => (await logs.read(handle)).content

describe.each(Object.keys(stores))('a log in %s', (name) => {
  const opened = () => {
    const open = stores[name]!()
    const logs = (more: Partial<LogLimits>) => open({ ...USUAL_LIMITS, checkEveryBytes: 0, ...more })
    return { logs, capped: () => logs({ maxBytes: MAX }) }
  }

  test('ends at its limit with a line that says so, and later output is not stored', async () => {
    const { capped } = opened()
    const logs = capped()
    const handle = await begin(logs)
    await logs.append(handle, [entry('0123456789')])
    await logs.append(handle, [entry('abcdefghi'), entry('äöü', 'stderr')])
    for (let more = 0; more < 3; more++) await logs.append(handle, [entry('not stored')])
    const text = `0123456789abcdefghi${ENDS_HERE}`
    expect(await contentOf(logs, handle)).toBe(text)
    expect(await streamed(logs, handle, 'system')).toBe(ENDS_HERE)
    const bytes = Buffer.byteLength(text)
    const summary = { bytes, sha256: sha256(text), truncated: true }
    expect(await logs.finalize(handle)).toMatchObject(summary)
    // A later reader gets the same.
    expect(await capped().finalize(handle)).toMatchObject(summary)
    expect(await contentOf(capped(), handle)).toBe(text)
  })

  test('that fits to the byte is complete', async () => {
    const logs = opened().capped()
    const handle = await begin(logs)
    await logs.append(handle, [entry('x'.repeat(MAX))])
    expect(await logs.finalize(handle)).toMatchObject({ bytes: MAX, truncated: false })
  })

  test('that another process continues has only one line that it ended', async () => {
    const { capped } = opened()
    const first = capped()
    const handle = await begin(first)
    await first.append(handle, [entry('x'.repeat(MAX + 1))])
    const second = capped()
    await second.append(handle, [entry('later')])
    expect(await second.finalize(handle)).toMatchObject({ truncated: true })
    expect(await contentOf(second, handle)).toBe(`${'x'.repeat(MAX)}${ENDS_HERE}`)
  })

  test('accepts nothing while the disk is short of space, and says so', async () => {
    let free = FLOOR
    const logs = opened().logs({ minFreeBytes: FLOOR, freeBytes: async () => free })
    const handle = await begin(logs)
    await logs.append(handle, [entry('before')])
    free = FLOOR - 1
    for (let more = 0; more < 3; more++) await logs.append(handle, [entry('lost')])
    expect(await contentOf(logs, handle)).toBe(`before${IS_SHORT}`)
    const text = `before${IS_SHORT}`
    expect(await logs.finalize(handle)).toMatchObject({
      bytes: text.length,
      sha256: sha256(text),
      truncated: true,
    })
  })

  test('is written even if the free space is unknown', async () => {
    const freeBytes = async () => {
      throw new Error('ENOSYS')
    }
    const logs = opened().logs({ minFreeBytes: FLOOR, freeBytes })
    const handle = await begin(logs)
    await logs.append(handle, [entry('text')])
    expect(await logs.finalize(handle)).toMatchObject({ bytes: 4, truncated: false })
  })
})

test('a log in files continues when there is room again, with the gap marked', async () => {
  let free = FLOOR - 1
  const limits = {
    ...USUAL_LIMITS,
    minFreeBytes: FLOOR,
    freeBytes: async () => free,
    checkEveryBytes: 1 << 30,
  }
  const logs = localFileStore(join(folder, 'holes'), limits)
  const handle = await begin(logs)
  await logs.append(handle, [entry('lost')])
  await logs.append(handle, [entry('lost too')])
  // While it is short, it is checked before every write.
  free = FLOOR
  await logs.append(handle, [entry('after')])
  const text = `${IS_SHORT}\n[12 bytes of output could not be stored: the disk was full]\nafter`
  expect(await contentOf(logs, handle)).toBe(text)
  expect(await logs.finalize(handle)).toMatchObject({ sha256: sha256(text), truncated: true })
})

test('the disk is checked once for so many bytes of all logs together', async () => {
  let checks = 0
  const freeBytes = async () => {
    checks++
    return FLOOR
  }
  const logs = localFileStore(join(folder, 'looks'), {
    ...USUAL_LIMITS,
    minFreeBytes: FLOOR,
    freeBytes,
    checkEveryBytes: 100,
  })
  const [one, two] = [await begin(logs), await begin(logs)]
  for (let time = 0; time < 10; time++)
    for (const handle of [one, two]) await logs.append(handle, [entry('0123456789')])
  expect(checks).toBe(2)
})

test('the real disk is checked', async () => {
  expect(await USUAL_LIMITS.freeBytes(folder)).toBeGreaterThan(0)
})
