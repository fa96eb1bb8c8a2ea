import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RunLogRows } from '../../src/kinds/run/postgres/run-logs.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { postgresStore } from '../../src/logs/postgres.ts'
import { LogUnavailable } from '../../src/logs/protocol.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from '../support/database.ts'
import { entry, readThrough } from '../support/log-stores.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

let database: Awaited<ReturnType<typeof freshDatabase>>
let store: PostgresStore
let rows: RunLogRows
let workspaceId: string
beforeAll(async () => {
  database = await freshDatabase()
  store = await PostgresStore.open(database.url)
  rows = new RunLogRows(store)
  workspaceId = String((await createWorkspace(store, 'one', 'test')).workspaceId)
})
afterAll(async () => {
  await store?.close()
  await database?.drop()
})

const run = () => ({ workspaceId, agentId: 'agent-1', runId: randomUUID() })

test('a log stops at its limit, in whole characters, and says that it is incomplete', async () => {
  const logs = postgresStore(rows, { mostBytes: 10 })
  const handle = await logs.begin(run())
  await logs.append(handle, [entry('12345')])
  await logs.append(handle, [entry('67äää'), entry('more', 'stderr')])
  await logs.append(handle, [entry('and more')])
  const text = '1234567ä\n[The log ends here: it reached its limit of 10 bytes. The run continued.]\n'
  expect((await logs.read(handle)).content).toBe(text)
  // A writer that continues after a restart does not fill the gap with later output.
  const other = postgresStore(rows, { mostBytes: 10 })
  await other.append(handle, [entry('!')])
  expect(await other.finalize(handle)).toEqual({
    bytes: Buffer.byteLength(text),
    sha256: sha256(text),
    compressed: false,
    truncated: true,
  })
})

test('a log that fits its limit to the byte is complete', async () => {
  const logs = postgresStore(rows, { mostBytes: 10 })
  const handle = await logs.begin(run())
  await logs.append(handle, [entry('1234567890')])
  expect(await logs.finalize(handle)).toMatchObject({ bytes: 10, truncated: false })
})

test('two writers of the same log do not mix their texts', async () => {
  const [one, two] = [postgresStore(rows), postgresStore(rows)]
  const handle = await one.begin(run())
  await one.append(handle, [entry('one')])
  await two.append(handle, [entry('two')])
  await expect(one.append(handle, [entry('three')])).rejects.toThrow()
  expect((await readThrough(one, handle)).content).toBe('onetwo')
  // It has read the log again since.
  await one.append(handle, [entry('three')])
  expect((await readThrough(one, handle)).content).toBe('onetwothree')
})

test('output after the end, from a writer that does not know of it, does not count', async () => {
  const [one, two] = [postgresStore(rows), postgresStore(rows)]
  const handle = await one.begin(run())
  await one.append(handle, [entry('text')])
  const summary = await two.finalize(handle)
  await one.append(handle, [entry(' and more')])
  expect(await one.read(handle)).toMatchObject({ content: 'text', nextOffset: null })
  expect(await one.finalize(handle)).toEqual(summary)
})

test('a log of another workspace is not found', async () => {
  const logs = postgresStore(rows)
  const handle = await logs.begin(run())
  await logs.append(handle, [entry('text')])
  const { workspaceId: other } = await createWorkspace(store, 'two', 'test')
  const stolen = { ...handle, logRef: handle.logRef.replace(/^\d+/, String(other)) }
  await expect(logs.read(stolen)).rejects.toThrow(LogUnavailable)
  await logs.delete(stolen)
  expect((await logs.read(handle)).content).toBe('text')
})
