import { expect, test } from 'vitest'
import { type Fleet, type Seen, useFleets } from '../support/runs.ts'

/** A log of 100 MB: searched, outlined, read as steps, and by range. */

const { served, fleet } = useFleets()
const LINES = 1_000_000
const LINE_BYTES = 100

/** Repeats a request until all of the log was read; each answer takes a bounded part of it. */
async function whole(w: Fleet, path: string, next: (answer: Seen) => string = () => ''): Promise<Seen> {
  for (let more = ''; ; ) {
    const { status, body } = await w.call('GET', `${path}${more}`)
    expect(status, JSON.stringify(body)).toBe(200)
    if (body.isComplete) return body
    more = next(body)
  }
}

test('100 MB are searched, outlined, read as steps and by range', async () => {
  const w = await fleet()
  await w.script(
    'writes',
    `import { writeSync } from 'node:fs'
     const lineOf = (i) => ((i % 1_000 === 0 ? '{"baton":"status","message":"needle ' : 'plain ') + i).padEnd(97, ' ') + (i % 1_000 === 0 ? '"}' : ' .') + '\\n'
     for (let i = 0; i < ${LINES}; i += 1_000) {
       let text = ''
       for (let j = i; j < i + 1_000; j++) text += lineOf(j)
       for (let rest = Buffer.from(text); rest.length > 0; )
         try { rest = rest.subarray(writeSync(1, rest)) } catch (error) { if (error.code !== 'EAGAIN') throw error }
     }`,
    { coordinatorEnabled: false },
  )
  await w.wake('writes')
  const [{ id, log }] = await w.over('writes')
  expect(log.bytes).toBe(LINES * LINE_BYTES)
  const path = `/runs/${id}`
  const found = await whole(
    w,
    `${path}/log/search?q=NEEDLE&limit=5`,
    ({ nextCursor }) => `&after=${nextCursor}`,
  )
  expect(found).toMatchObject({ total: 1_000, readBytes: log.bytes })
  const outline = await whole(w, `${path}/log/outline`)
  expect(outline).toMatchObject({ lines: LINES, steps: { count: 1_000 } })
  expect(JSON.stringify(outline).length).toBeLessThan(100_000)
  const { steps } = await whole(w, `${path}/transcript?before=999999999&limit=50`)
  expect(steps).toHaveLength(50)
  expect(steps.some(({ title }: Seen) => title === `needle ${LINES - 1_000}`)).toBe(true)
  const headers = { authorization: `Bearer ${w.ownerKey}`, range: 'bytes=50000000-50000005' }
  const part = await fetch(`${served().api}${path}/log/raw`, { headers })
  expect([part.status, await part.text()]).toEqual([206, '{"bato'])
  expect((await w.log(id, '?tail=100')).content).toMatch(/^plain 999999 /)
}, 600_000)
