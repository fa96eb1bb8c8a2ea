import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Step } from '../../src/kinds/run/shapes/transcript.ts'
import { transcriptReader } from '../../src/transcript/reader.ts'

/** What the readers make of the recorded output of the real programs (test/contracts). */

const FOLDER = join(import.meta.dirname, '../contracts')
const recorded = (name: string) => readFileSync(join(FOLDER, `${name}.stdout`), 'utf8')
const all = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.stdout'))
  .map((file) => file.slice(0, -'.stdout'.length))
const adapterOf = (name: string) => `${name.split('.')[0]}_local`

/** The last form of each step. */
function stepsOf(name: string, text = recorded(name)): Step[] {
  const reader = transcriptReader(adapterOf(name))
  const steps = new Map<number, Step>()
  for (const step of [...reader.take(0, 'stdout', text), ...reader.end()]) steps.set(step.n, step)
  return [...steps.values()]
}
const shortly = (steps: Step[]) => steps.map(({ kind, tool, title }) => [kind, tool, title])

test('every recorded output becomes steps: in order, of the shape of the API, and each within the output', () => {
  expect(all.length).toBeGreaterThan(10)
  for (const name of all) {
    const text = recorded(name)
    const steps = stepsOf(name)
    expect(steps.length > 0, name).toBe(text.trim() !== '')
    expect(steps.map(({ n }) => n)).toEqual(steps.map((_, i) => i + 1))
    for (const step of steps) {
      expect(Step.parse(step)).toEqual(step)
      expect(step.offset + step.bytes, name).toBeLessThanOrEqual(Buffer.byteLength(text))
      expect(step.title, name).not.toBe('')
    }
  }
})

test('the recorded streams hold no line that their reader does not know', () => {
  const unknown = all
    .filter((name) => !/\.json\.|bad_flag/.test(name))
    .flatMap((name) =>
      stepsOf(name)
        .filter(({ kind, title }) => kind === 'log' && !title.startsWith('Warning: '))
        .map(({ title }) => [name, title]),
    )
  // The prompt, which gemini repeats.
  expect(unknown).toEqual([
    ['gemini.live', 'USETOOL please'],
    ['gemini.live_resume', 'Go on'],
    ['gemini.stream.tool', 'USETOOL'],
  ])
})

describe('claude', () => {
  test('calls a tool, gets its result and says something', () => {
    const steps = stepsOf('claude.stream.tool')
    expect(shortly(steps)).toEqual([
      ['session', null, 'Session 00273c0e-22a3-4cea-a888-c99f654c595f'],
      ['call', 'Bash', 'echo hi'],
      ['said', null, 'Hello from fake'],
      ['ended', null, 'Done'],
    ])
    const [, call, said] = steps
    expect(call).toMatchObject({
      text: 'echo hi',
      output: 'hi',
      isError: false,
      isOpen: false,
      callId: 'toolu_25',
      at: '2026-11-15T08:01:44.065Z',
      durationMs: 78,
      tokens: { input: 100, cachedInput: 40, cacheWrite: null, output: 1 },
    })
    const text = recorded('claude.stream.tool')
    const bytes = Buffer.from(text).subarray(call!.outputOffset!, call!.outputOffset! + call!.outputBytes!)
    expect(JSON.parse(bytes.toString())).toMatchObject({ type: 'user' })
    expect(said).toMatchObject({ text: 'Hello from fake', tokens: { input: 100 } })
  })

  test.each([
    ['claude.stream.http401', true, /^The API answered 401$/],
    ['claude.stream.http429', true, /^The API answered 429$/],
    ['claude.stream.max_turns', true, /^Stopped at its limit of turns$/],
    ['claude.stream.resume_unknown', true, /^No conversation found/],
    ['claude.json.success', false, /^Done$/],
  ])('%s ends as the adapter judges it', (name, isError, title) => {
    expect(stepsOf(name).at(-1)).toMatchObject({
      kind: 'ended',
      isError,
      title: expect.stringMatching(title),
    })
  })
})

test('codex: warnings are no errors, and an item that starts and completes is one step', () => {
  const steps = stepsOf('codex.tool')
  expect(shortly(steps)).toEqual([
    ['session', null, 'Session 01a1de3a-0c8d-7732-8fe4-fe1f6493c85d'],
    ['log', null, expect.stringMatching(/^Warning: Model metadata/)],
    ['call', 'command', "/bin/bash -lc 'echo hi'"],
    ['said', null, 'Hello from fake'],
    ['ended', null, 'Done'],
  ])
  expect(steps.some(({ isError }) => isError)).toBe(false)
  expect(steps[2]).toMatchObject({ output: 'hi\n', isOpen: false })
})

test('codex: an error of the connection may be temporary, a failed turn is the end', () => {
  const steps = stepsOf('codex.turn_failed').slice(-2)
  expect(steps).toMatchObject([
    { kind: 'retried', isError: false },
    { kind: 'ended', isError: true, title: expect.stringMatching(/^Codex ran out of room/) },
  ])
})

test('gemini: the call and its result are one step, and the end has the usage', () => {
  const steps = stepsOf('gemini.stream.tool')
  expect(shortly(steps)).toEqual([
    ['session', null, 'Session 3ea69537-04f4-4a55-97d8-b7b3abcab7b1'],
    ['log', null, 'USETOOL'],
    ['call', 'list_directory', '.'],
    ['said', null, 'Hello from fake'],
    ['ended', null, 'Done'],
  ])
  expect(steps[2]).toMatchObject({ isOpen: false, isError: false, durationMs: 39 })
  expect(steps[4]).toMatchObject({ tokens: { input: 120, cachedInput: 80, output: 14 } })
})

test('opencode: what an answer used and cost belongs to what it did', () => {
  const steps = stepsOf('opencode.tool')
  expect(shortly(steps)).toEqual([
    ['session', null, 'Session ses_e21c5bf9affe0vkt7W5nRosfG9'],
    ['call', 'bash', 'echo hi'],
    ['said', null, 'Hello from fake'],
    ['ended', null, 'Done'],
  ])
  expect(steps[1]).toMatchObject({
    output: 'hi\n',
    durationMs: 96,
    tokens: { input: 100, output: 20 },
    costUsd: '0.00014',
  })
  expect(steps[2]).toMatchObject({ tokens: { cachedInput: 40 }, costUsd: '0.000074' })
})
