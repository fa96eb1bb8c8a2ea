import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { expectRefusal } from '../../support/http-workspace.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** The log of a run over HTTP: its end, its outline, search in all of it, and its bytes as they are. */

const { served, fleet } = useFleets()
const UNKNOWN_ID = '01890000-0000-7000-8000-00000000ffff'

async function ran(w: Fleet, slug: string, source: string): Promise<Seen> {
  await w.script(slug, source, { coordinatorEnabled: false })
  await w.wake(slug)
  return (await w.over(slug))[0]
}
const read = async (w: Fleet, path: string): Promise<Seen> => {
  const { status, body } = await w.call('GET', path)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
const bytes = async (w: Fleet, id: string, range?: string) => {
  const headers = { authorization: `Bearer ${w.ownerKey}`, ...(range && { range }) }
  const answer = await fetch(`${served().api}/runs/${id}/log/raw`, { headers })
  return { answer, text: Buffer.from(await answer.arrayBuffer()) }
}

/** Prints this many lines, each with its number; every thousandth says needle. */
const LINES = 60_000
const lineOf = (i: number) =>
  `line ${i}: größer ${i % 1_000 === 7 ? 'Needle' : 'hay'}, 日本 ${'x'.repeat(60)}\n`
const printsLines = `
  const lineOf = (i) => \`line \${i}: größer \${i % 1_000 === 7 ? 'Needle' : 'hay'}, 日本 \${'x'.repeat(60)}\\n\`
  let text = ''
  for (let i = 0; i < ${LINES}; i++) text += lineOf(i)
  process.stdout.write(text)`
/** A log of several megabytes, so of several pages; made once. */
let large: Promise<{ w: Fleet; id: string; text: Buffer }> | undefined
const aLargeLog = () => {
  large ??= (async () => {
    const w = await fleet()
    const { id } = await ran(w, 'writes', printsLines)
    return { w, id, text: Buffer.from(Array.from({ length: LINES }, (_, i) => lineOf(i)).join('')) }
  })()
  return large
}

/** A run that has printed this and continues until the file `go` exists. No secret begins as the text ends, or it would be held back. */
async function running(w: Fleet, first: string, then = '') {
  const { home } = await w.script(
    'writes',
    `import { existsSync } from 'node:fs'
     process.stdout.write(${JSON.stringify(first)})
     while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))
     process.stdout.write(${JSON.stringify(then)})`,
  )
  await w.wake('writes')
  const { id } = await w.saying('writes', first)
  return {
    id: id as string,
    finish: async () => {
      writeFileSync(join(home, 'go'), '')
      await w.over('writes')
    },
  }
}

describe('the end of a log', () => {
  test('is read without knowing how long the log is, in whole characters', async () => {
    const { w, id, text } = await aLargeLog()
    const page = await w.log(id, '?tail=1000')
    expect(page).toMatchObject({ bytes: text.length, nextOffset: null, status: 'available' })
    expect(text.length - page.offset).toBeLessThanOrEqual(1_000)
    expect(text.length - page.offset).toBeGreaterThan(990)
    expect(page.content).toBe(text.subarray(page.offset).toString())
    expect((await w.log(id, '?tail=999999999999')).offset).toBe(text.length - 4 * 1024 * 1024)
  })

  test('of a short log is all of it, also while it is written', async () => {
    const w = await fleet()
    const { id, finish } = await running(w, 'first\n', 'second\n')
    expect(await w.log(id, '?tail=100')).toMatchObject({
      ...{ status: 'writing', offset: 0, content: 'first\n', bytes: 6, nextOffset: 6 },
    })
    expect(await w.log(id, '?tail=3')).toMatchObject({ offset: 3, content: 'st\n' })
    await finish()
    expect(await w.log(id, '?tail=7')).toMatchObject({ offset: 6, content: 'second\n', bytes: 13 })
  })

  test('is not read together with an offset', async () => {
    const { w, id } = await aLargeLog()
    for (const more of ['offset=1', 'limitBytes=1'])
      expectRefusal(await w.call('GET', `/runs/${id}/log?tail=1&${more}`), 400, 'VALIDATION_FAILED')
  })

  test('is read at its end, with those of other runs, and of this workspace alone', async () => {
    const w = await fleet()
    const { id, finish } = await running(w, 'first line\nlast line\n')
    const tails = async (caller: Fleet, ids: string[]) =>
      (await caller.post('/runs/tails', { ids, bytes: 10 })).body.items
    expect(await tails(w, [id, UNKNOWN_ID, id])).toMatchObject([
      { runId: id, offset: 11, content: 'last line\n', spans: [{ stream: 'stdout' }] },
    ])
    expect(await tails(await fleet(), [id])).toEqual([])
    await finish()
    expectRefusal(await w.post('/runs/tails', { ids: [] }), 400, 'VALIDATION_FAILED')
  })
})

describe('search in a log', () => {
  test('counts all hits in the whole log, and lists them page by page', async () => {
    const { w, id, text } = await aLargeLog()
    const offsets: number[] = []
    let after = ''
    let last: Seen
    do {
      last = await read(w, `/runs/${id}/log/search?q=needle&limit=25${after}`)
      expect(last.hits.length).toBeLessThanOrEqual(25)
      for (const { offset, bytes, excerpt } of last.hits) {
        offsets.push(offset)
        expect(text.subarray(offset, offset + bytes).toString()).toBe('Needle')
        expect(excerpt).toMatch(/^line \d+: größer Needle, 日本 x+$/)
      }
      after = `&after=${last.nextCursor}`
    } while (last.nextCursor !== null)
    expect(last).toMatchObject({ total: 60, isComplete: true, bytes: text.length, readBytes: text.length })
    expect(offsets).toHaveLength(60)
    expect(new Set(offsets).size).toBe(60)
  })

  test('respects case on request', async () => {
    const { w, id } = await aLargeLog()
    const total = async (query: string) => {
      for (let after = ''; ; ) {
        const answer = await read(w, `/runs/${id}/log/search?limit=1000&${query}${after}`)
        if (answer.isComplete) return answer.total
        after = `&after=${answer.nextCursor}`
      }
    }
    expect(await total('q=needle&case=sensitive')).toBe(0)
    expect(await total('q=Needle&case=sensitive')).toBe(60)
    expect(await total(`q=${encodeURIComponent('GRÖSSER')}`)).toBe(0)
    expect(await total(`q=${encodeURIComponent('GRÖ')}`)).toBe(LINES)
  })

  test('finds what was written a moment ago', async () => {
    const w = await fleet()
    const { id, finish } = await running(w, 'a needle\n', 'another needle\n')
    expect(await read(w, `/runs/${id}/log/search?q=needle`)).toMatchObject({
      ...{ status: 'writing', total: 1, isComplete: true, nextCursor: null, hits: [{ offset: 2 }] },
    })
    await finish()
    expect(await read(w, `/runs/${id}/log/search?q=needle`)).toMatchObject({ total: 2, status: 'available' })
  })

  test('refuses what is no search, no cursor and no run', async () => {
    const { w, id } = await aLargeLog()
    for (const query of ['', '?q=', '?q=a&after=nonsense', '?q=a&after=WzFd', '?q=a%0Ab', '?q=a&case=maybe'])
      expectRefusal(await w.call('GET', `/runs/${id}/log/search${query}`), 400, 'VALIDATION_FAILED')
    const other = await fleet()
    for (const [caller, run] of [
      [w, UNKNOWN_ID],
      [other, id],
    ] as const)
      for (const what of ['log/search?q=a', 'log/outline', 'log/raw', 'transcript'])
        expectRefusal(await caller.call('GET', `/runs/${run}/${what}`), 404, 'NOT_FOUND')
  })
})

describe('the outline of a log', () => {
  const whole = async (w: Fleet, id: string): Promise<Seen> => {
    for (;;) {
      const outline = await read(w, `/runs/${id}/log/outline`)
      if (outline.isComplete) return outline
    }
  }

  test('has the number of lines, and where each of so many begins', async () => {
    const { w, id, text } = await aLargeLog()
    const { lines, everyLines, lineOffsets, ...more } = await whole(w, id)
    expect(lines).toBe(LINES)
    expect(more).toMatchObject({ bytes: text.length, readBytes: text.length, status: 'available' })
    expect(lineOffsets).toHaveLength(Math.ceil(LINES / everyLines))
    for (const i of [0, 1, 17, lineOffsets.length - 1])
      expect(text.subarray(lineOffsets[i]).toString('utf8', 0, 60)).toMatch(
        new RegExp(`^line ${i * everyLines}:`),
      )
  })

  test('marks steps, errors and output on stderr', async () => {
    const w = await fleet()
    const { id } = await ran(
      w,
      'writes',
      `import { writeSync } from 'node:fs'
       const wait = () => new Promise((resolve) => setTimeout(resolve, 300))
       writeSync(1, 'hello\\n{"baton":"call","signature":"Bash ls"}\\n'); await wait()
       writeSync(2, 'Error: oops\\n  at x\\n'); await wait()
       writeSync(1, '{"result":1,"summary":"done"}')`,
    )
    const { content } = await w.log(id)
    expect(await whole(w, id)).toMatchObject({
      lines: 5,
      steps: { count: 2, offsets: [content.indexOf('{"baton"'), content.indexOf('{"result"')] },
      errors: { count: 1, offsets: [content.indexOf('Error')] },
      stderr: { count: 1, offsets: [content.indexOf('Error')] },
    })
  })

  test('grows with the log', async () => {
    const w = await fleet()
    const { id, finish } = await running(w, 'one\ntwo ', 'or\nthree\n')
    expect(await whole(w, id)).toMatchObject({ lines: 2, status: 'writing', lineOffsets: [0], bytes: 8 })
    await finish()
    expect(await whole(w, id)).toMatchObject({ lines: 3, status: 'available', bytes: 17 })
  })
})

describe('the bytes of a log', () => {
  test('are downloaded as a text file', async () => {
    const { w, id, text: expected } = await aLargeLog()
    const { answer, text } = await bytes(w, id)
    expect(answer.status).toBe(200)
    expect(text.equals(expected)).toBe(true)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(expected.length),
      'content-disposition': `attachment; filename="run-${id}.log"`,
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
    })
    expect(answer.headers.has('content-range')).toBe(false)
  })

  test('are read by range, to the byte, also inside of characters', async () => {
    const { w, id, text: all } = await aLargeLog()
    const inside = all.indexOf(Buffer.from('日')) + 1
    const ranges: [string, number, number][] = [
      ['bytes=0-0', 0, 0],
      [`bytes=${inside}-${inside}`, inside, inside],
      [`bytes=${inside}-${inside + 3_000_000}`, inside, inside + 3_000_000],
      ['bytes=-5', all.length - 5, all.length - 1],
      [`bytes=${all.length - 3}-`, all.length - 3, all.length - 1],
      [`bytes=${all.length - 3}-999999999999`, all.length - 3, all.length - 1],
      ['bytes=-999999999999', 0, all.length - 1],
    ]
    for (const [range, first, last] of ranges) {
      const { answer, text } = await bytes(w, id, range)
      expect(answer.status, range).toBe(206)
      expect(answer.headers.get('content-range')).toBe(`bytes ${first}-${last}/${all.length}`)
      expect(text.equals(all.subarray(first, last + 1)), range).toBe(true)
    }
    for (const range of ['bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=5-2', 'nonsense'])
      expect((await bytes(w, id, range)).answer.status, range).toBe(200)
  })

  test('beyond the end are refused, with the size', async () => {
    const { w, id, text } = await aLargeLog()
    const { answer, text: problem } = await bytes(w, id, `bytes=${text.length}-`)
    expect(answer.status).toBe(416)
    expect(answer.headers.get('content-range')).toBe(`bytes */${text.length}`)
    expect(JSON.parse(problem.toString())).toMatchObject({ code: 'RANGE_NOT_SATISFIABLE' })
  })

  test('of a run without a log are not there', async () => {
    const w = await fleet()
    await w.put('nowhere', {
      adapterType: 'process',
      adapterConfig: { command: 'node', cwd: '/nowhere/at/all' },
    })
    await w.wake('nowhere')
    const [{ id }] = await w.over('nowhere')
    for (const what of ['log/search?q=a', 'log/outline', 'log/raw', 'transcript'])
      expectRefusal(await w.call('GET', `/runs/${id}/${what}`), 404, 'LOG_UNAVAILABLE')
  })
})
