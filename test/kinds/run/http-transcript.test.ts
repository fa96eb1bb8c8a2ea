import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Step } from '../../../src/kinds/run/shapes/transcript.ts'
import { transcriptReader } from '../../../src/transcript/reader.ts'
import { expectRefusal } from '../../support/http-workspace.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** What an agent did in a run, over HTTP. */

const { fleet } = useFleets()

/** Once all of the log was read. */
async function transcript(w: Fleet, id: string, query = ''): Promise<Seen> {
  for (;;) {
    const { status, body } = await w.call('GET', `/runs/${id}/transcript${query}`)
    expect(status, JSON.stringify(body)).toBe(200)
    if (body.isComplete) return body
  }
}

test('of a program with a known format is what it said and did', async () => {
  const w = await fleet()
  await w.claude('dev', '', { coordinatorEnabled: false })
  await w.wake('dev')
  const [{ id }] = await w.over('dev')
  const { steps, total, ...more } = await transcript(w, id)
  expect(more).toMatchObject({ adapterType: 'claude_local', status: 'available', resume: null })
  expect(steps.map(({ n }: Step) => n)).toEqual(steps.map((_: Step, i: number) => i + 1))
  expect(total).toBe(steps.length)
  expect(steps[0]).toMatchObject({ kind: 'session', at: expect.any(String) })
  expect(steps.at(-1)).toMatchObject({ kind: 'ended', isError: false })
})

/** Calls whose results come after many others, over several pages of the log. */
const CALLS = 3_000
const calls = `
  const line = (value) => process.stdout.write(JSON.stringify(value) + '\\n')
  const pad = 'x'.repeat(400)
  for (let i = 1; i <= ${CALLS}; i++) {
    line({ type: 'tool_use', tool_name: 'work', tool_id: 'c' + i, parameters: { command: 'call ' + i, pad } })
    if (i > 20) line({ type: 'tool_result', tool_id: 'c' + (i - 20), status: i % 7 ? 'success' : 'error', output: 'result ' + (i - 20) })
  }`
let many: Promise<{ w: Fleet; id: string }> | undefined
const manySteps = () => {
  many ??= (async () => {
    const w = await fleet()
    const { home } = await w.script('prints', '')
    writeFileSync(join(home, 'gemini.mjs'), `#!${process.execPath}\n${calls}`, { mode: 0o755 })
    await w.put('dev', {
      adapterType: 'gemini_local',
      adapterConfig: { command: join(home, 'gemini.mjs'), cwd: home },
      coordinatorEnabled: false,
    })
    await w.wake('dev')
    const [{ id }] = await w.over('dev')
    return { w, id }
  })()
  return many
}

test('is read by pages in both directions; each call has the result that came later', async () => {
  const { w, id } = await manySteps()
  const numbers: number[] = []
  for (let after = 0; after < CALLS; after += 500) {
    const { steps, total } = await transcript(w, id, `?after=${after}&limit=500`)
    expect(total).toBe(CALLS)
    for (const { n, title, output, isError, isOpen } of steps as Step[]) {
      numbers.push(n)
      expect(title).toBe(`call ${n}`)
      expect([isOpen, output]).toEqual(n <= CALLS - 20 ? [false, `result ${n}`] : [true, null])
      if (!isOpen) expect(isError).toBe((n + 20) % 7 === 0)
    }
  }
  expect(numbers).toEqual(Array.from({ length: CALLS }, (_, i) => i + 1))
  const ofPage = async (query: string) => (await transcript(w, id, query)).steps.map(({ n }: Step) => n)
  expect(await ofPage('?before=999999999&limit=3')).toEqual([CALLS - 2, CALLS - 1, CALLS])
  expect(await ofPage('?before=1500&limit=2')).toEqual([1498, 1499])
  expect(await ofPage('?after=1490&before=1493')).toEqual([1491, 1492])
  expect(await ofPage('?limit=2')).toEqual([1, 2])
  expect(await ofPage('?before=1')).toEqual([])
  expect(await ofPage(`?after=${CALLS}`)).toEqual([])
})

test('of a run in progress ends with a state from which a reader continues with the live output', async () => {
  const w = await fleet()
  const before = '{"baton":"status","message":"at it"}\n{"baton": '
  // No secret begins as the first part ends: it would be held back.
  const after = '"progress","percent":50}\n{"result":1,"summary":"done"}\n'
  const { home } = await w.script(
    'dev',
    `import { existsSync } from 'node:fs'
     process.stdout.write(${JSON.stringify(before)})
     while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20))
     process.stdout.write(${JSON.stringify(after)})`,
  )
  await w.wake('dev')
  const { id } = await w.saying('dev', '{"baton": ')
  const early = await transcript(w, id, '?before=999999')
  expect(early).toMatchObject({ status: 'writing', steps: [{ kind: 'said', title: 'at it' }] })
  expect(early.resume).toMatchObject({ offset: before.length, n: 1 })
  const reader = transcriptReader(early.adapterType, early.resume)
  const live = [...reader.take(before.length, 'stdout', after), ...reader.end()]
  writeFileSync(join(home, 'go'), '')
  await w.over('dev')
  const { steps, resume } = await transcript(w, id)
  expect(resume).toBeNull()
  const shown = ({ n, kind, title, offset, bytes }: Step) => ({ n, kind, title, offset, bytes })
  expect(steps.map(shown)).toEqual([...early.steps, ...live].map(shown))
  expect(steps).toHaveLength(3)
})

test('refuses numbers that are none', async () => {
  const { w, id } = await manySteps()
  for (const query of ['?after=-1', '?before=x', '?limit=many', '?at=1'])
    expectRefusal(await w.call('GET', `/runs/${id}/transcript${query}`), 400, 'VALIDATION_FAILED')
})
