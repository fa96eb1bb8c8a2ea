import { describe, expect, test } from 'vitest'
import { callOf, toldOf } from '../../../src/executor/told.ts'
import { KnownSecrets } from '../../../src/pure/secrets/redaction.ts'

/** What is kept of a prompt and of a call: bounded, in whole characters, and without secrets. */

const SECRET = 'correct-horse-battery'
const secrets = new KnownSecrets([SECRET])
const KEPT_BYTES = 256 * 1024

describe('a prompt', () => {
  test('is kept as it is, with its secrets redacted and its size before that', () => {
    const prompt = `Grüße 🙂 ${SECRET}\0`
    expect(toldOf({ prompt }, secrets)).toEqual({
      prompt: { text: 'Grüße 🙂 [redacted]\u{fffd}', bytes: Buffer.byteLength(prompt), isCut: false },
      systemPrompt: null,
    })
  })

  test('of ten megabytes is cut in whole characters, and its whole size is known', () => {
    for (const character of ['a', 'ü', '€', '🙂']) {
      const prompt = `x${character.repeat(10_000_000 / Buffer.byteLength(character))}`
      const kept = toldOf({ prompt, systemPrompt: prompt }, secrets)
      const { text, bytes, isCut } = kept.prompt
      expect([bytes, isCut]).toEqual([Buffer.byteLength(prompt), true])
      expect(text.isWellFormed()).toBe(true)
      expect(prompt.startsWith(text)).toBe(true)
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(KEPT_BYTES)
      expect(Buffer.byteLength(text)).toBeGreaterThan(KEPT_BYTES - 4)
      expect(kept.systemPrompt).toMatchObject({ isCut: true, bytes })
      expect(Buffer.byteLength(kept.systemPrompt!.text)).toBeLessThanOrEqual(64 * 1024)
    }
  })

  test('that is cut within a secret shows no part of it', () => {
    for (let shown = 1; shown < SECRET.length; shown++) {
      const before = 'a'.repeat(KEPT_BYTES - shown)
      const { text } = toldOf({ prompt: `${before}${SECRET} and more` }, secrets).prompt
      expect(text).toBe(before)
    }
  })
})

describe('a call', () => {
  const argsOf = (...args: string[]) => callOf({ command: 'run', args, env: [] }, secrets)!.program!

  test('has the names of variables in order, and no secret in its command', () => {
    expect(callOf({ command: `/bin/${SECRET}`, args: [], env: ['PATH', 'API_KEY'] }, secrets)).toEqual({
      program: { command: '/bin/[redacted]', args: [], isCut: false, env: ['API_KEY', 'PATH'] },
      request: null,
    })
  })

  test.each([
    [
      ['--token', 'abc'],
      ['--token', '[redacted]'],
    ],
    [['--api-key=abc'], ['--api-key=[redacted]']],
    [['PASSWORD=abc'], ['PASSWORD=[redacted]']],
    [
      ['-H', 'X-Auth: ghp_0123456789abcdef'],
      ['-H', 'X-Auth: [redacted]'],
    ],
    [
      ['--url', 'https://u:hunter2@host/x'],
      ['--url', '[redacted]'],
    ],
    [
      ['--known', SECRET],
      ['--known', '[redacted]'],
    ],
    [
      ['-p', `a=${SECRET}`],
      ['-p', 'a=[redacted]'],
    ],
  ])('shows the arguments %j without their secrets', (given, shown) => {
    expect(argsOf(...given).args).toEqual(shown)
  })

  test('shows ordinary arguments as they are', () => {
    const plain = [
      ...[
        '--print',
        '--output-format',
        'stream-json',
        '--session-id',
        'c8b9a1de-0f7e-4f0a-9b7e-2d1f0a9c4e11',
      ],
      ...['--max-turns', '100', '--append-system-prompt=Answer in German, please.', '/srv/shop/count.sh'],
      ...['--max-tokens', '500', '--model=claude-opus-4-5', ''],
    ]
    expect(argsOf(...plain)).toMatchObject({ args: plain, isCut: false })
  })

  test('keeps long arguments in part, and of very many the first', () => {
    const long = 'word '.repeat(4_000)
    const { args, isCut } = argsOf(long, 'last')
    expect([args[0]!.length, args[1], isCut]).toEqual([8 * 1024, 'last', true])
    const many = argsOf(...Array.from({ length: 1_000 }, () => 'word '.repeat(200)))
    expect(many.isCut).toBe(true)
    expect(many.args.length).toBe(65)
  })

  test('by HTTP has no login and no value of its query', () => {
    const url = `https://me:pass@host.example:8443/hook/${SECRET}?key=abc&mode=fast#top`
    const request = { method: 'POST', url, headers: ['x-token', 'accept'] }
    expect(callOf(request, secrets)).toEqual({
      program: null,
      request: {
        method: 'POST',
        url: 'https://host.example:8443/hook/[redacted]?key=…&mode=…',
        headers: ['accept', 'x-token'],
      },
    })
  })

  test('that is none is not kept', () => {
    for (const reported of [null, 'x', {}, { command: 5 }, { command: 'x', args: 'y' }])
      expect(callOf(reported, secrets)).toBeNull()
  })
})
