import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  appendFile,
  copyFile,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { USUAL_LIMITS } from '../../src/logs/limits.ts'
import { localFileStore } from '../../src/logs/local-file.ts'
import { LogUnavailable, type RunLogHandle, type RunLogStore } from '../../src/logs/protocol.ts'
import { compiledFile } from '../support/launched.ts'
import { entry, readThrough, streamed } from '../support/log-stores.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const WRITER = compiledFile('test/support/processes/log-writer.ts')
let folder: string
let logs: RunLogStore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-logs-'))
  logs = localFileStore(folder)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const begin = () => logs.begin({ workspaceId: '7', agentId: 'agent-1', runId: randomUUID() })
const path = ({ logRef }: RunLogHandle) => join(folder, logRef)
const filesOf = async (handle: RunLogHandle) => {
  const run = handle.logRef.split('/')[2]!
  return (await readdir(join(folder, '7/agent-1'))).map((name) => name.replace(run, '')).sort()
}
/** As a process sees it that starts later. */
const later = () => localFileStore(folder)

test('a finished log is gzip that any program reads, and nothing of the raw text is left', async () => {
  const handle = await begin()
  const text = Array.from({ length: 200_000 }, (_, i) => `line ${i} äöü\n`).join('')
  await logs.append(handle, [entry(text)])
  expect(await filesOf(handle)).toEqual(['.log', '.spans'])
  expect(await logs.finalize(handle)).toMatchObject({ compressed: true, bytes: Buffer.byteLength(text) })
  expect(await filesOf(handle)).toEqual(['.json', '.log.gz', '.spans'])
  expect(gunzipSync(await readFile(`${path(handle)}.log.gz`)).toString()).toBe(text)
  expect((await stat(`${path(handle)}.log.gz`)).mode & 0o077).toBe(0)
})

test('without compression a finished log is its text, whichever step of finishing a crash cut off', async () => {
  const plain = () => localFileStore(folder, USUAL_LIMITS, false)
  const handle = await begin()
  const text = 'äöü text\n'.repeat(200_000)
  await logs.append(handle, [entry(text)])
  const summary = await plain().finalize(handle)
  expect(summary).toMatchObject({ compressed: false, sha256: sha256(text) })
  const files = ['.plain.json', '.spans', '.txt']
  expect(await filesOf(handle)).toEqual(files)
  expect(await readFile(`${path(handle)}.txt`, 'utf8')).toBe(text)
  const again = async (leave: () => Promise<unknown>) => {
    await rename(`${path(handle)}.txt`, `${path(handle)}.log`)
    await leave()
    expect((await readThrough(plain(), handle)).content).toBe(text)
    expect(await plain().finalize(handle)).toEqual(summary)
    expect(await filesOf(handle)).toEqual(files)
  }
  await again(async () => {
    await rm(`${path(handle)}.plain.json`)
    await writeFile(`${path(handle)}.plain.json.1234.part`, '{"version":')
  })
  await again(async () => undefined)
  await truncate(`${path(handle)}.txt`, 1_000_000)
  await expect(readThrough(plain(), handle)).rejects.toThrow('it is damaged')
})

test('a crash at any step of finishing loses nothing, and the next attempt ends it', async () => {
  const text = 'text\n'.repeat(400_000)
  const handle = await begin()
  await logs.append(handle, [entry(text)])
  const raw = [`${path(handle)}.log`, `${path(handle)}.spans`]
  for (const file of raw) await copyFile(file, `${file}.kept`)
  const summary = await logs.finalize(handle)
  const again = async (leave: () => Promise<unknown>) => {
    for (const file of raw) await copyFile(`${file}.kept`, file)
    await leave()
    const other = later()
    expect((await readThrough(other, handle)).content).toBe(text)
    expect(await other.finalize(handle)).toEqual(summary)
    expect((await readThrough(other, handle)).content).toBe(text)
    expect(await filesOf(handle)).toEqual(['.json', '.log.gz', '.log.kept', '.spans', '.spans.kept'])
  }
  await again(async () => {
    await rm(`${path(handle)}.json`)
    await rm(`${path(handle)}.log.gz`)
    await writeFile(`${path(handle)}.log.gz.1234.part`, 'half of it')
  })
  await again(async () => {
    await rm(`${path(handle)}.json`)
    await writeFile(`${path(handle)}.json.1234.part`, '{"version":')
  })
  await again(async () => undefined)
})

test('a span whose text was not written is cut to the text that exists', async () => {
  const handle = await begin()
  await logs.append(handle, [entry('whole\n'), entry('half', 'stderr')])
  await truncate(`${path(handle)}.log`, 8)
  const other = later()
  expect((await other.read(handle)).spans.map(({ bytes, stream }) => [stream, bytes])).toEqual([
    ['stdout', 6],
    ['stderr', 2],
  ])
  await other.append(handle, [entry('more\n')])
  await other.finalize(handle)
  expect((await other.read(handle)).content).toBe('whole\nhamore\n')
  expect(await streamed(other, handle, 'stderr')).toBe('ha')
  expect(await streamed(other, handle, 'stdout')).toBe('whole\nmore\n')
})

test('text whose span is lost, or half a span, is attributed to the system', async () => {
  const handle = await begin()
  await logs.append(handle, [entry('known\n')])
  await appendFile(`${path(handle)}.log`, 'unknown\n')
  await appendFile(`${path(handle)}.spans`, '[      6,')
  const other = later()
  expect(await other.finalize(handle)).toMatchObject({ sha256: sha256('known\nunknown\n') })
  expect(await streamed(other, handle, 'stdout')).toBe('known\n')
  expect(await streamed(other, handle, 'system')).toBe('unknown\n')
})

test('half a character at the end, as after a power cut, is not part of the log', async () => {
  const handle = await begin()
  await logs.append(handle, [entry('smile 🙂')])
  await truncate(`${path(handle)}.log`, 8)
  const other = later()
  expect(await other.read(handle)).toMatchObject({ content: 'smile ', nextOffset: 6 })
  expect(await other.finalize(handle)).toMatchObject({ bytes: 6, sha256: sha256('smile ') })
  expect(await other.read(handle)).toMatchObject({ content: 'smile ', nextOffset: null })
})

test('on a full disk the run continues: its log has a visible gap, and says that it is incomplete', async () => {
  const handle = await begin()
  const words = ['overfull', { store: 'local_file', folder }, handle, 1].map((word) => JSON.stringify(word))
  // A file size limit works like a full disk: the write that exceeds it is done in part, then refused.
  const limited = 'ulimit -f 64 && exec "$0" "$@"'
  await promisify(execFile)('sh', ['-c', limited, process.execPath, WRITER, ...words])
  const text = 'before\n\n[1048576 bytes of output could not be stored: the disk was full]\nafter\n'
  const other = later()
  expect((await other.read(handle)).content).toBe(text)
  expect(await streamed(other, handle, 'stdout')).toBe('before\nafter\n')
  const summary = { bytes: text.length, sha256: sha256(text), compressed: true, truncated: true }
  expect(await other.finalize(handle)).toEqual(summary)
  expect(await later().finalize(handle)).toEqual(summary)
})

test('a log whose files were deleted is unavailable', async () => {
  for (const ending of ['.json', '.log.gz', '.spans']) {
    const handle = await begin()
    await logs.append(handle, [entry('text')])
    await logs.finalize(handle)
    await rm(path(handle) + ending)
    await expect(logs.read(handle)).rejects.toThrow(LogUnavailable)
  }
})

test('a damaged log is unavailable, not wrong', async () => {
  const handle = await begin()
  await logs.append(handle, [entry('text '.repeat(1000))])
  await logs.finalize(handle)
  const file = `${path(handle)}.log.gz`
  const bytes = await readFile(file)
  bytes[20]! ^= 0xff
  await writeFile(file, bytes)
  await expect(logs.read(handle)).rejects.toThrow('it is damaged')
})

test('deleting removes the files and the folders that are empty then, and leaves those of other runs', async () => {
  const [one, two] = [await begin(), await begin()]
  for (const handle of [one, two]) await logs.append(handle, [entry('text')])
  await logs.finalize(one)
  await writeFile(`${path(one)}.log.gz.1234.part`, '')
  await logs.delete(one)
  expect((await logs.read(two)).content).toBe('text')
  expect(await filesOf(two)).toEqual(['.log', '.spans'])
  await logs.delete(two)
  expect(await readdir(folder)).toEqual([])
})

test('ids that would lead elsewhere are refused', async () => {
  for (const runId of ['..', 'a/b', '', 'a.b', 'a\u0000', 'x'.repeat(200)])
    await expect(logs.begin({ workspaceId: '1', agentId: 'a', runId })).rejects.toThrow(
      'runId may contain only letters, digits, - and _.',
    )
  expect(await readdir(folder)).toEqual([])
})

test.skipIf(process.platform !== 'linux')('no file stays open', async () => {
  const open = async () => (await readdir('/proc/self/fd')).length
  const handle = await begin()
  const before = await open()
  for (let i = 0; i < 20; i++) {
    await logs.append(handle, [entry('text\n')])
    await logs.read(handle)
    for await (const _ of logs.stream(handle, 'stdout')) break
  }
  await logs.finalize(handle)
  for (let i = 0; i < 20; i++) await logs.read(handle)
  for (let i = 0; i < 20; i++) await logs.read({ ...handle, logRef: '1/2/3' }).catch(() => undefined)
  expect(await open()).toBeLessThanOrEqual(before + 2)
})
