import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LogEntry, LogStream, LogSummary } from '../../src/logs/protocol.ts'
import { LogUnavailable } from '../../src/logs/protocol.ts'
import { compiledFile } from '../support/launched.ts'
import {
  beginLog,
  entry,
  joined,
  type LogsUnderTest,
  openLogStore,
  readThrough,
  streamed,
} from '../support/log-stores.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const textOf = (entries: readonly LogEntry[]) => entries.map(({ chunk }) => chunk).join('')

const WRITER = compiledFile('test/support/processes/log-writer.ts')

const EMPTY = { content: '', offset: 0, bytes: 0, nextOffset: null, spans: [] }

const kinds = [
  { kind: 'local_file', how: 'compressed' },
  { kind: 'local_file', how: 'plain' },
  { kind: 'object_store', how: 'compressed' },
  { kind: 'object_store', how: 'plain' },
  { kind: 'postgres', how: 'plain' },
] as const

describe.each(kinds)('logs in $kind, $how', ({ kind, how }) => {
  let it: LogsUnderTest
  beforeAll(async () => {
    it = await openLogStore[kind](how === 'compressed')
  })
  afterAll(() => it?.close())

  test('what is appended is read in order, while the run is active and after', async () => {
    const handle = await beginLog(it)
    expect(handle.store).toBe(kind)
    expect(await it.logs.read(handle)).toEqual({ ...EMPTY, nextOffset: 0 })
    const appends = Array.from({ length: 40 }, (_, i) => [entry(`line ${i}\n`)])
    // Not waiting for each other: the order of the calls is the order of the text.
    await Promise.all(appends.map((entries) => it.logs.append(handle, entries)))
    const text = textOf(appends.flat())
    const running = await it.logs.read(handle)
    expect(running).toMatchObject({ content: text, nextOffset: text.length })
    await it.logs.append(handle, [entry('more\n')])
    expect(await it.logs.read(handle, { offset: text.length })).toMatchObject({
      content: 'more\n',
      nextOffset: text.length + 5,
    })
    const summary = await it.logs.finalize(handle)
    expect(summary).toEqual({
      bytes: text.length + 5,
      sha256: sha256(`${text}more\n`),
      compressed: how === 'compressed',
      truncated: false,
    })
    expect(await it.logs.read(handle)).toMatchObject({ content: `${text}more\n`, nextOffset: null })
    expect(await it.logs.read(handle, { offset: text.length })).toMatchObject({
      content: 'more\n',
      nextOffset: null,
    })
  })

  test('pages of any size give the same text and spans, in whole characters', async () => {
    const streams = fc.constantFrom<LogStream>('stdout', 'stderr', 'system')
    const chunk = fc.string({ unit: fc.constantFrom('a', '\n', 'ä', '→', '🙂', '\u0000'), maxLength: 30 })
    const written = fc.array(fc.array(fc.tuple(streams, chunk), { maxLength: 4 }), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(written, fc.integer({ min: 1, max: 40 }), async (appends, limitBytes) => {
        const handle = await beginLog(it)
        const entries = appends.map((append) => append.map(([stream, text]) => entry(text, stream)))
        for (const append of entries) await it.logs.append(handle, append)
        const text = textOf(entries.flat())
        const running = await readThrough(it.logs, handle, limitBytes)
        expect(running).toMatchObject({ content: text, nextOffset: Buffer.byteLength(text) })
        expect(joined((await it.logs.read(handle)).spans)).toEqual(running.spans)
        expect(await it.logs.finalize(handle)).toMatchObject({ sha256: sha256(text) })
        const final = await readThrough(it.logs, handle, limitBytes)
        expect(final).toEqual({ ...running, nextOffset: null })
        // The spans say of every byte where it came from.
        for (const stream of ['stdout', 'stderr', 'system'] as const) {
          const bytes = Buffer.from(text)
          const ofStream = final.spans
            .filter((span) => span.stream === stream)
            .map((span) => bytes.toString('utf8', span.offset, span.offset + span.bytes))
          const expected = textOf(entries.flat().filter((one) => one.stream === stream))
          expect(ofStream.join('')).toBe(expected)
          expect(await streamed(it.logs, handle, stream)).toBe(expected)
        }
        expect(final.spans.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(Buffer.byteLength(text))
      }),
      { numRuns: 10 },
    )
  })

  test('an offset inside a character continues with the next one', async () => {
    const handle = await beginLog(it)
    await it.logs.append(handle, [entry('🙂ab')])
    for (const offset of [1, 2, 3, 4])
      expect(await it.logs.read(handle, { offset })).toMatchObject({
        content: 'ab',
        offset: 4,
        bytes: 6,
        nextOffset: 6,
      })
    expect(await it.logs.read(handle, { offset: 2, limitBytes: 1 })).toMatchObject({
      content: 'a',
      nextOffset: 5,
    })
    const beyond = { ...EMPTY, offset: 6, bytes: 6 }
    expect(await it.logs.read(handle, { offset: 99 })).toEqual({ ...beyond, nextOffset: 6 })
    await it.logs.finalize(handle)
    expect(await it.logs.read(handle, { offset: 99 })).toEqual(beyond)
  })

  test('an invalid range is refused in one sentence', async () => {
    const handle = await beginLog(it)
    await expect(it.logs.read(handle, { offset: -1 })).rejects.toThrow(
      'offset must be a whole number, 0 or more.',
    )
    await expect(it.logs.read(handle, { limitBytes: 0 })).rejects.toThrow('limitBytes must be a whole number')
  })

  test('spans carry the time and the stream of the text', async () => {
    const handle = await beginLog(it)
    const [out, err] = [entry('out\n'), entry('err\n', 'stderr')]
    await it.logs.append(handle, [out, err])
    const expected = [
      { offset: 0, bytes: 4, stream: 'stdout', ts: out.ts },
      { offset: 4, bytes: 4, stream: 'stderr', ts: err.ts },
    ]
    expect((await it.logs.read(handle)).spans).toEqual(expected)
    await it.logs.finalize(handle)
    expect((await it.logs.read(handle)).spans).toEqual(expected)
    expect((await it.logs.read(handle, { offset: 5, limitBytes: 2 })).spans).toEqual([
      { offset: 5, bytes: 2, stream: 'stderr', ts: err.ts },
    ])
  })

  test('spans that are larger than one read are complete', async () => {
    const handle = await beginLog(it)
    const entries = [
      entry('ä'.repeat(100_000)),
      entry('b'.repeat(200_000), 'stderr'),
      entry('c'.repeat(1_200_000), 'system'),
      entry('d', 'stderr'),
    ]
    for (const one of entries) await it.logs.append(handle, [one])
    let offset = 0
    const expected = entries.map(({ stream, chunk, ts }) => {
      const span = { offset, bytes: Buffer.byteLength(chunk), stream, ts }
      offset += span.bytes
      return span
    })
    for (const finish of [async () => undefined, () => it.logs.finalize(handle)]) {
      await finish()
      const read = await readThrough(it.logs, handle, 199_999)
      expect(read.spans).toEqual(expected)
      expect(read.content === textOf(entries)).toBe(true)
      expect((await streamed(it.logs, handle, 'stderr')) === `${entries[1]!.chunk}d`).toBe(true)
    }
  })

  test('finished twice, or concurrently, it ends the same way', async () => {
    const handle = await beginLog(it)
    await it.logs.append(handle, [entry('text\n'.repeat(250_000))])
    const other = await it.another()
    const [one, two, three] = await Promise.all([
      it.logs.finalize(handle),
      it.logs.finalize(handle),
      other.finalize(handle),
    ])
    expect([two, three]).toEqual([one, one])
    expect(await it.logs.finalize(handle)).toEqual(one)
    expect(await (await it.another()).finalize(handle)).toEqual(one)
    expect(one.sha256).toBe(sha256('text\n'.repeat(250_000)))
  })

  test('a log is read alike by a process that compresses and by one that does not, whichever finished it', async () => {
    const text = 'what was printed\n'.repeat(70_000)
    for (const [compress, others] of [
      [true, false],
      [false, true],
    ] as const) {
      const handle = await beginLog(it)
      await it.logs.append(handle, [entry(text), entry('why\n', 'stderr')])
      const summary = await (await it.another(compress)).finalize(handle)
      expect(summary).toEqual({
        ...{ bytes: Buffer.byteLength(text) + 4, sha256: sha256(`${text}why\n`), truncated: false },
        compressed: kind !== 'postgres' && compress,
      })
      const other = await it.another(others)
      expect(await other.finalize(handle)).toEqual(summary)
      // The page crosses the end of the first megabyte.
      const page = { offset: 1_048_570, limitBytes: 12 }
      expect((await other.read(handle, page)).content).toBe(text.slice(1_048_570, 1_048_582))
      expect((await readThrough(other, handle, 499_979)).content === `${text}why\n`).toBe(true)
      expect(await streamed(other, handle, 'stderr')).toBe('why\n')
      await other.delete(handle)
      await expect(it.logs.read(handle)).rejects.toThrow(LogUnavailable)
    }
  })

  test('two processes that finish a log at once, of which one compresses, lose nothing of it', async () => {
    const text = 'text\n'.repeat(250_000)
    const handle = await beginLog(it)
    await it.logs.append(handle, [entry(text)])
    const both = [await it.another(true), await it.another(false)]
    // The bucket of tests has an object as empty while it is replaced; then the upload is repeated, as upkeep does it.
    const finish = (logs: (typeof both)[number]): Promise<LogSummary> =>
      logs.finalize(handle).catch((error: Error) => {
        if (error.message.includes('will be repeated')) return finish(logs)
        throw error
      })
    const summaries = await Promise.all(both.map(finish))
    expect(summaries.map((summary) => summary.sha256)).toEqual([sha256(text), sha256(text)])
    for (const logs of both) expect((await readThrough(logs, handle)).content === text).toBe(true)
  })

  test('another process finishes what the writer left, and reads it', async () => {
    const handle = await beginLog(it)
    await it.logs.append(handle, [entry('written\n'), entry('by one\n', 'stderr')])
    const other = await it.another()
    expect(await other.read(handle)).toMatchObject({ content: 'written\nby one\n', nextOffset: 15 })
    await other.append(handle, [entry('and by two\n')])
    expect(await other.finalize(handle)).toMatchObject({
      bytes: 26,
      sha256: sha256('written\nby one\nand by two\n'),
    })
    expect(await it.logs.read(handle)).toMatchObject({
      content: 'written\nby one\nand by two\n',
      nextOffset: null,
    })
  })

  test('nothing can be added to a log that is finished', async () => {
    const handle = await beginLog(it)
    await it.logs.append(handle, [entry('text')])
    const summary = await it.logs.finalize(handle)
    await expect(it.logs.append(handle, [entry('late')])).rejects.toThrow(LogUnavailable)
    expect(await it.logs.finalize(handle)).toEqual(summary)
    expect(await it.logs.read(handle)).toMatchObject({ content: 'text', nextOffset: null })
  })

  test('an empty log is a log', async () => {
    const handle = await beginLog(it)
    expect(await it.logs.finalize(handle)).toMatchObject({ bytes: 0, sha256: sha256(''), truncated: false })
    expect(await it.logs.read(handle)).toEqual(EMPTY)
    expect(await streamed(it.logs, handle, 'stdout')).toBe('')
  })

  test('a log that was deleted, running or finished, is unavailable to all, and deleted again without harm', async () => {
    for (const isFinished of [false, true]) {
      const handle = await beginLog(it)
      await it.logs.append(handle, [entry('text')])
      if (isFinished) await it.logs.finalize(handle)
      await it.logs.read(handle)
      await it.logs.delete(handle)
      await it.logs.delete(handle)
      for (const logs of [it.logs, await it.another()]) {
        await expect(logs.read(handle)).rejects.toThrow(LogUnavailable)
        await expect(logs.finalize(handle)).rejects.toThrow(LogUnavailable)
        await expect(logs.append(handle, [entry('late')])).rejects.toThrow(LogUnavailable)
        await expect(streamed(logs, handle, 'stdout')).rejects.toThrow(LogUnavailable)
      }
    }
  })

  test('a foreign reference is unavailable', async () => {
    for (const logRef of [
      '',
      '../../../etc/passwd',
      '1/../..',
      'a/b',
      `1/${randomUUID()}/x/y`,
      '1/a/b\u0000',
    ])
      await expect(it.logs.read({ store: kind, logRef })).rejects.toThrow(LogUnavailable)
  })

  test('50 logs are written at once, each complete', async () => {
    const handles = await Promise.all(Array.from({ length: 50 }, () => beginLog(it)))
    await Promise.all(
      handles.map(async (handle, i) => {
        for (let n = 0; n < 5; n++) await it.logs.append(handle, [entry(`${i}:${n} ${'x'.repeat(500)}\n`)])
      }),
    )
    const expected = (i: number) =>
      Array.from({ length: 5 }, (_, n) => `${i}:${n} ${'x'.repeat(500)}\n`).join('')
    const summaries = await Promise.all(handles.map((handle) => it.logs.finalize(handle)))
    expect(summaries.map((summary) => summary.sha256)).toEqual(handles.map((_, i) => sha256(expected(i))))
    expect((await it.logs.read(handles[49]!)).content).toBe(expected(49))
  })

  test('what was acknowledged exists after the writer was killed', async () => {
    const handle = await beginLog(it)
    const child = spawn(
      process.execPath,
      [WRITER, ...['lines', it.place, handle].map((word) => JSON.stringify(word))],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    const ended = once(child, 'close')
    let acknowledged = -1
    for await (const line of createInterface({ input: child.stdout })) {
      acknowledged = Number(line)
      if (acknowledged >= 200) child.kill('SIGKILL')
    }
    await ended
    expect(acknowledged).toBeGreaterThanOrEqual(200)
    const other = await it.another()
    const { content } = await readThrough(other, handle)
    const lines = content.split('\n').slice(0, -1)
    expect(lines.length).toBeGreaterThan(acknowledged)
    expect(lines).toEqual(lines.map((_, i) => `line ${i} äöü 🙂`))
    const summary = await other.finalize(handle)
    expect(summary).toMatchObject({ bytes: Buffer.byteLength(content), sha256: sha256(content) })
    expect(await streamed(other, handle, 'stdout')).toBe(content)
  })
})
