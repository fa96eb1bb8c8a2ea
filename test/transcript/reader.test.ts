import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Step } from '../../src/kinds/run/shapes/transcript.ts'
import { transcriptReader } from '../../src/transcript/reader.ts'

/** Readers of transcripts: pieces, streams that alternate, calls without results, and going on elsewhere. */

type Piece = [stream: Step['stream'], text: string]

/** The last form of each step, however the pieces come; after so many of them another reader continues. */
function read(
  adapterType: string,
  pieces: readonly Piece[],
  deliverClaims: (place: number) => boolean = () => false,
) {
  let reader = transcriptReader(adapterType)
  const steps = new Map<number, Step>()
  const keep = (changed: Step[]) => changed.forEach((step) => void steps.set(step.n, step))
  let offset = 0
  pieces.forEach(([stream, text], place) => {
    keep(reader.take(offset, stream, text, null))
    offset += Buffer.byteLength(text)
    // As JSON: that is how a browser gets it.
    if (deliverClaims(place))
      reader = transcriptReader(adapterType, JSON.parse(JSON.stringify(reader.state())))
  })
  keep(reader.end())
  return [...steps.values()]
}
const line = (value: unknown) => `${JSON.stringify(value)}\n`
const uses = (id: string, name: string, input: unknown, usage = {}) =>
  line({
    type: 'assistant',
    message: { id: `m-${id}`, usage, content: [{ type: 'tool_use', id, name, input }] },
  })
const returned = (id: string, content: unknown, isError = false) =>
  line({
    type: 'user',
    message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] },
  })

const TALE: Piece[] = [
  ['stdout', line({ type: 'system', subtype: 'init', session_id: 's-1', model: 'm' })],
  ['stdout', uses('a', 'Bash', { command: 'npm test' }) + uses('b', 'Read', { file_path: 'ä.ts' })],
  ['stderr', 'warning: 日本\nError: oops\n  at x\n'],
  ['stdout', returned('b', [{ type: 'text', text: '👩‍🚀' }])],
  ['stdout', 'plain one\nplain two\n'],
  ['stdout', returned('a', 'exit 1', true)],
  ['system', '[The log ends here]'],
  ['stdout', line({ type: 'never_seen', value: 1 })],
]

test('steps do not depend on where the output is cut, nor on who reads on', () => {
  const whole = read('claude_local', TALE)
  expect(whole.map(({ kind, title }) => `${kind} ${title}`)).toMatchInlineSnapshot(`
    [
      "session Session s-1",
      "call npm test",
      "call ä.ts",
      "log warning: 日本",
      "log Error: oops",
      "log plain one",
      "log never_seen",
      "log [The log ends here]",
    ]
  `)
  const units = TALE.flatMap(([stream, text]) => [...text].map((character): Piece => [stream, character]))
  expect(read('claude_local', units)).toEqual(whole)
  expect(read('claude_local', units, (place) => place % 7 === 3)).toEqual(whole)
  for (let cut = 1; cut < units.length; cut++) {
    const [before, after] = [units.slice(0, cut), units.slice(cut)].map(joined)
    expect(read('claude_local', [...before!, ...after!], (place) => place === before!.length - 1)).toEqual(
      whole,
    )
  }
})

/** Neighbours of one stream as one piece. */
function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = []
  for (const [stream, text] of pieces) {
    const last = all.at(-1)
    if (last?.[0] === stream) last[1] += text
    else all.push([stream, text])
  }
  return all
}

test('offsets are those of the bytes', () => {
  const text = Buffer.from(TALE.map(([, part]) => part).join(''))
  const at = (offset: number, bytes: number) => text.subarray(offset, offset + bytes).toString()
  const steps = read('claude_local', TALE)
  const call = steps.find(({ callId }) => callId === 'b')!
  expect(`${at(call.offset, call.bytes)}\n`).toBe(uses('b', 'Read', { file_path: 'ä.ts' }))
  expect(`${at(call.outputOffset!, call.outputBytes!)}\n`).toBe(
    returned('b', [{ type: 'text', text: '👩‍🚀' }]),
  )
  const plain = steps.find(({ title }) => title === 'plain one')!
  expect(at(plain.offset, plain.bytes)).toBe('plain one\nplain two')
})

test('whatever is printed, nothing is lost and nothing is thrown', () => {
  const value = fc.jsonValue()
  const strange = fc.record({
    type: fc.constantFrom(
      'system',
      'assistant',
      'user',
      'result',
      'item.completed',
      'message',
      'tool_use',
      'step_finish',
      'error',
    ),
    subtype: value,
    message: fc.oneof(value, fc.record({ content: fc.array(value), usage: value, id: value })),
    item: fc.record({
      type: fc.constantFrom('command_execution', 'file_change', 'error'),
      id: value,
      changes: value,
    }),
    part: value,
    baton: value,
  })
  const lines = fc.array(
    fc.oneof(
      strange.map((one) => JSON.stringify(one)),
      fc.string(),
      fc.string({ unit: 'binary' }),
    ),
  )
  const types = ['claude_local', 'codex_local', 'gemini_local', 'opencode_local', 'process', '__proto__']
  fc.assert(
    fc.property(lines, fc.constantFrom(...types), (given, type) => {
      const steps = read(type, [['stdout', given.join('\n')]])
      expect(steps.map(({ n }) => n)).toEqual(steps.map((_, i) => i + 1))
      for (const step of steps) {
        expect(step.text.length).toBeLessThanOrEqual(4_000)
        expect([...step.title].every((character) => character >= ' ')).toBe(true)
      }
    }),
    { numRuns: 100 },
  )
})

test('a line that no reader knows is a step of the log, with its text', () => {
  for (const type of ['claude_local', 'codex_local', 'gemini_local', 'opencode_local', 'process']) {
    const strange = '{"type":"from_the_future","value":1}'
    expect(read(type, [['stdout', `${strange}\nhello\n`]])).toMatchObject([
      { kind: 'log', title: 'from_the_future', text: strange },
      { kind: 'log', title: 'hello', text: 'hello' },
    ])
  }
})

test('a result without its call is a step of its own, and a call without its result stays open', () => {
  const steps = read('claude_local', [
    ['stdout', returned('x', 'late') + uses('y', 'Bash', { command: 'ls' })],
  ])
  expect(steps).toMatchObject([
    { kind: 'result', output: 'late', isOpen: false },
    { kind: 'call', title: 'ls', isOpen: true, output: null },
  ])
})

test('an edit is a diff, with the lines that it adds and removes', () => {
  const edits: [string, unknown][] = [
    ['Edit', { file_path: 'a.ts', old_string: 'one\ntwo', new_string: 'three' }],
    ['MultiEdit', { file_path: 'a.ts', edits: [{ old_string: 'one\ntwo', new_string: 'three' }] }],
  ]
  for (const [tool, input] of edits)
    expect(read('claude_local', [['stdout', uses('e', tool, input)]])).toMatchObject([
      { kind: 'edit', tool, title: 'a.ts +1 −2', text: '-one\n-two\n+three' },
    ])
  const [written] = read('gemini_local', [
    [
      'stdout',
      line({
        type: 'tool_use',
        tool_name: 'write_file',
        tool_id: 'w',
        parameters: { file_path: 'b', content: 'x\ny\n' },
      }),
    ],
  ])
  expect(written).toMatchObject({ kind: 'edit', title: 'b +2 −0' })
})

test('lines of one message share its tokens: each has what was added', () => {
  const message = (output: number, text: string) =>
    line({
      type: 'assistant',
      message: {
        id: 'm',
        usage: { input_tokens: 10, output_tokens: output },
        content: [{ type: 'text', text }],
      },
    })
  expect(read('claude_local', [['stdout', message(1, 'a') + message(5, 'b')]])).toMatchObject([
    { tokens: { input: 10, output: 1 } },
    { tokens: { input: 0, output: 4 } },
  ])
})

test('words that come in pieces are one step', () => {
  const piece = (content: string) => line({ type: 'message', role: 'assistant', content, delta: true })
  expect(read('gemini_local', [['stdout', ['Hel', 'lo ', 'there'].map(piece).join('')]])).toMatchObject([
    { kind: 'said', title: 'Hel', text: 'Hello there' },
  ])
})

test('reports of any program are steps, and its last line is the end', () => {
  const reports = [
    { baton: 'progress', percent: 40, step: 'tests' },
    { baton: 'call', signature: 'Bash ls', isError: true },
    { baton: 'checkpoint', data: { done: 3 } },
    { baton: 'ask', question: 'Which one?' },
    { baton: 'rate_limit', until: '2026-11-15T08:00:00Z' },
    { baton: 'session', sessionId: 's' },
    { result: 1, summary: 'found it', usage: { inputTokens: 3, outputTokens: 4 }, costUsd: '0.01' },
  ]
  expect(read('process', [['stdout', reports.map(line).join('')]])).toMatchObject([
    { kind: 'said', title: '40 % tests' },
    { kind: 'call', tool: 'Bash', title: 'ls', isError: true },
    { kind: 'said', title: 'Saved a checkpoint', text: expect.stringContaining('3') },
    { kind: 'asked', title: 'Which one?' },
    { kind: 'limited', title: 'Rate limited until 15 Nov 2026, 08:00 UTC' },
    { kind: 'session', title: 'Session s' },
    { kind: 'ended', title: 'found it', tokens: { input: 3 }, costUsd: '0.01' },
  ])
})

test('an invalid report is a line of the log, and no step without words', () => {
  const invalid = [
    { baton: 'status' },
    { baton: 'status', message: 7 },
    { baton: 'status', message: '  ' },
    { baton: 'progress', percent: 'half' },
    { baton: 'call', signature: '' },
    { baton: 'ask', options: ['yes'] },
    { baton: 'session' },
  ].map(line)
  expect(read('process', [['stdout', invalid.join('')]])).toMatchObject(
    invalid.map((said) => ({ kind: 'log', title: said.trimEnd() })),
  )
})

test('a stack trace is one step, and what comes after it is another', () => {
  const trace = `Error: Cannot find module './missing.js'\n    at resolve (node:internal:1:2)\n    at load (a.js:3:4)\n`
  expect(read('process', [['stderr', `starting\n${trace}Node.js v20.20.2\n`]])).toMatchObject([
    { title: 'starting', isError: false },
    { text: trace.trimEnd(), isError: true },
    { title: 'Node.js v20.20.2', isError: false },
  ])
})

test('very much plain output is steps of bounded size', () => {
  const steps = read('process', [['stdout', 'a line of output\n'.repeat(10_000)]])
  expect(steps.length).toBeLessThan(100)
  expect(steps.reduce((sum, { text }) => sum + text.split('\n').length, 0)).toBe(10_000)
})
