import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formsOf } from '../../src/pure/secrets/forms.ts'
import { KnownSecrets, Redactor, redactDeep, redactText } from '../../src/pure/secrets/redaction.ts'
import { rounds } from '../support/rounds.ts'

const R = '[redacted]'

/** The same by searching everywhere for everything. */
function slowly(text: string, secrets: readonly string[]): string {
  const forms = secrets
    .filter((secret) => secret.trim().length >= 6)
    .flatMap((secret) => [...formsOf(secret)])
  const found = forms
    .flatMap((form) =>
      Array.from({ length: text.length }, (_, from) => ({ from, to: from + form.length })).filter(
        ({ from }) => text.startsWith(form, from),
      ),
    )
    .sort((a, b) => a.from - b.from)
  const spots: { from: number; to: number }[] = []
  for (const { from, to } of found) {
    const last = spots.at(-1)
    if (last && from < last.to) last.to = Math.max(last.to, to)
    else spots.push({ from, to })
  }
  let out = ''
  let at = 0
  for (const { from, to } of spots) {
    out += text.slice(at, from) + R
    at = to
  }
  return out + text.slice(at)
}

function inPieces(text: string, secrets: readonly string[], cuts: readonly number[]): string {
  const redactor = new Redactor(secrets)
  const places = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
  let out = ''
  let at = 0
  for (const place of [...places, text.length]) {
    out += redactor.take(text.slice(at, place))
    at = place
  }
  return out + redactor.end()
}

describe('however the text is split', () => {
  const letters = fc.string({
    unit: fc.constantFrom('a', 'b', 'c', '\n', '"', '🙂'),
    minLength: 1,
    maxLength: 12,
  })
  const secrets = fc.array(letters, { maxLength: 4 })
  const cuts = fc.array(fc.nat(), { maxLength: 12 })

  test('every occurrence of every form of every secret is redacted, and nothing else', () => {
    // Texts that are made of secrets, parts of them and their forms.
    const texts = secrets.chain((known) =>
      fc
        .array(
          fc.oneof(
            letters,
            ...(known.length === 0
              ? []
              : [
                  fc.constantFrom(...known.flatMap((secret) => [secret, ...formsOf(secret)])),
                  fc
                    .tuple(fc.constantFrom(...known), fc.nat())
                    .map(([secret, end]) => secret.slice(0, end % (secret.length + 1))),
                ]),
          ),
          { maxLength: 12 },
        )
        .map((parts) => ({ known, text: parts.join('') })),
    )
    fc.assert(
      fc.property(texts, cuts, ({ known, text }, places) => {
        const expected = slowly(text, known)
        expect(redactText(text, known)).toBe(expected)
        expect(inPieces(text, known, places)).toBe(expected)
      }),
      { numRuns: rounds(300, 2_000) },
    )
  })

  test('a secret does not pass at any chunk border, nor character by character', () => {
    const secret = 'sk-live-1234567890'
    const text = `before ${secret} after ${secret}${secret}`
    const expected = `before ${R} after ${R}${R}`
    for (let cut = 0; cut <= text.length; cut++) expect(inPieces(text, [secret], [cut])).toBe(expected)
    expect(
      inPieces(
        text,
        [secret],
        Array.from({ length: text.length }, (_, i) => i),
      ),
    ).toBe(expected)
  })

  test('secrets that are learned on the way are redacted from there on, and those before all the time', () => {
    const later = fc.array(fc.string({ unit: fc.constantFrom('x', 'y', 'b'), minLength: 6, maxLength: 9 }), {
      maxLength: 3,
    })
    const texts = fc.tuple(secrets, later).chain(([known, learned]) => {
      const made = (parts: string[]) =>
        fc.array(fc.oneof(letters, ...(parts.length > 0 ? [fc.constantFrom(...parts)] : [])), {
          maxLength: 6,
        })
      return fc.record({
        known: fc.constant(known),
        learned: fc.constant(learned),
        // A secret of before may be split by the moment.
        before: made(known).map((parts) => parts.join('')),
        after: made([...known, ...learned]).map((parts) => `|${parts.join('')}`),
        cut: fc.nat(),
      })
    })
    fc.assert(
      fc.property(texts, ({ known, learned, before, after, cut }) => {
        const redactor = new Redactor(known)
        const at = cut % (before.length + 1)
        let out = redactor.take(before.slice(0, at))
        redactor.learn(new KnownSecrets([...known, ...learned]))
        out += redactor.take(before.slice(at))
        out += redactor.take(after) + redactor.end()
        const hasLearned = slowly(before, learned) !== before
        if (!hasLearned) expect(out).toBe(slowly(before + after, [...known, ...learned]))
        for (const secret of known.filter((one) => one.trim().length >= 6)) expect(out).not.toContain(secret)
        expect(out.endsWith(slowly(after, [...known, ...learned]).slice(1))).toBe(true)
      }),
      { numRuns: rounds(300, 2_000) },
    )
  })

  test('a secret that has begun when it is learned is redacted as far as it is held', () => {
    const redactor = new Redactor(['abcdef'])
    expect(redactor.take('xabc')).toBe('x')
    redactor.learn(new KnownSecrets(['abcdef', 'bcdxyz']))
    expect(redactor.take('dxyz') + redactor.end()).toBe(`a${R}`)
  })

  test('a possible beginning of a secret is held, and released when it is none', () => {
    const redactor = new Redactor(['password'])
    expect(redactor.take('my pass')).toBe('my ')
    expect(redactor.take('port')).toBe('passport')
    expect(redactor.take('the passwor')).toBe('the ')
    expect(redactor.end()).toBe('passwor')
  })

  test('a text without secrets passes unchanged', () => {
    const redactor = new Redactor(['zyxwvu'])
    const chunk = 'a line of output\n'
    expect(redactor.take(chunk)).toBe(chunk)
    expect(redactor.take('')).toBe('')
    expect(redactor.end()).toBe('')
    expect(new Redactor([]).take(chunk)).toBe(chunk)
  })
})

describe('secrets', () => {
  test('that overlap leave nothing of either', () => {
    expect(redactText('-abcdefghi-', ['abcdef', 'defghi'])).toBe(`-${R}-`)
  })

  test('that contain others are redacted as a whole', () => {
    expect(redactText('x secret-long-tail y secret-z', ['secret', 'secret-long-tail'])).toBe(
      `x ${R} y ${R}-z`,
    )
  })

  test('that repeat themselves without end are redacted as one', () => {
    const redactor = new Redactor(['aaaaaa'])
    let out = ''
    for (let i = 0; i < 1_000; i++) out += redactor.take('a'.repeat(1_000))
    expect(out + redactor.take('b') + redactor.end()).toBe(`${R}b`)
  })

  test('are matched literally, not as patterns', () => {
    expect(redactText('a.*b(c)$ and aXXb(c)$', ['a.*b(c)$'])).toBe(`${R} and aXXb(c)$`)
  })

  test('that are too short are not searched for, and are named', () => {
    const redactor = new Redactor(['abc', 'abcdef', '     \n\n', '12345 ', 'abcdef'])
    expect(redactor.registered()).toEqual(['abcdef'])
    expect(redactor.take('abc 12345 \n') + redactor.end()).toBe('abc 12345 \n')
  })

  const key = [
    '-----BEGIN PRIVATE KEY-----',
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC+/=x',
    'kjhGFDsaPOIuytREWq0987654321ZXCVbnm=',
    '-----END PRIVATE KEY-----',
    '',
  ].join('\n')

  test('of several lines are found line by line too', () => {
    expect(redactText(`key:\n${key}`, [key])).toBe(`key:\n${R}`)
    expect(redactText('> MIIEvQIBADANBgkqhkiG9w0BAQEFAASC+/=x <', [key])).toBe(`> ${R} <`)
    expect(redactText(key.replaceAll('\n', '\r\n'), [key])).not.toContain('MIIE')
  })

  test.each([
    ['as it is', (secret: string) => secret],
    ['without its last line break', (secret: string) => secret.trim()],
    ['in JSON', (secret: string) => JSON.stringify(secret)],
    ['in JSON in JSON', (secret: string) => JSON.stringify(JSON.stringify(secret))],
    ['in JSON that escapes slashes', (secret: string) => JSON.stringify(secret).replaceAll('/', '\\/')],
    [
      'in JSON of ASCII',
      (secret: string) =>
        JSON.stringify(secret).replace(
          /[^ -~]/g,
          (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
        ),
    ],
    ['in an address', (secret: string) => `?token=${encodeURIComponent(secret)}`],
    ['in a form', (secret: string) => new URLSearchParams({ secret }).toString()],
    [
      'in an address with small digits',
      (secret: string) => encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
    ],
    ['in base64', (secret: string) => Buffer.from(secret).toString('base64')],
    ['in base64 for addresses', (secret: string) => Buffer.from(secret).toString('base64url')],
  ])('are found %s', (_, write) => {
    for (const secret of ['pass/word+"ä🙂" =&', 'line one of it\nline two of it\n', key]) {
      const written = write(secret)
      const redacted = redactText(`<${written}>`, [secret])
      expect(redacted).toContain(R)
      for (let at = 0; at + 8 <= secret.length; at++) expect(redacted).not.toContain(secret.slice(at, at + 8))
      // Only the encoding around it is left.
      expect(redacted.replaceAll(R, '').replace(/^<(\?token=|secret=|"|\\"|"\\")*/, '').length).toBeLessThan(
        12,
      )
    }
  })

  test('are found in the base64 of something longer', () => {
    for (const user of ['a', 'ab', 'abc', 'abcd']) {
      const header = Buffer.from(`${user}:correct horse battery`).toString('base64')
      const [left, right] = redactText(`Basic ${header}`, ['correct horse battery']).split(R)
      expect(left!.length + right!.length).toBeLessThan('Basic '.length + user.length * 2 + 6)
      expect(Buffer.from(right!, 'base64').length).toBeLessThan(4)
    }
  })

  test('are found in base64 that is broken into lines', () => {
    const secret = Array.from({ length: 40 }, (_, i) => `${i}-part`).join()
    const wrapped = Buffer.from(secret).toString('base64').replace(/.{76}/g, '$&\n')
    expect(redactText(wrapped, [secret])).toMatch(/^(\[redacted\]\n?)+$/)
  })
})

describe('values', () => {
  const secret = 'hunter2hunter2'

  test('are redacted in their texts and names, at any depth, and otherwise unchanged', () => {
    const value = { a: [1, null, true, `x${secret}`], [secret]: { b: secret, c: 'plain' }, d: 1.5 }
    expect(redactDeep(value, [secret])).toEqual({
      a: [1, null, true, `x${R}`],
      [R]: { b: R, c: 'plain' },
      d: 1.5,
    })
    expect(value.a[3]).toBe(`x${secret}`)
    expect(redactDeep(secret, [secret])).toBe(R)
    expect(redactDeep(null, [secret])).toBe(null)
    expect(redactDeep(undefined, [secret])).toBe(undefined)
  })

  test('keep two fields whose names were both secrets', () => {
    expect(redactDeep({ [secret]: 1, 'another-secret': 2 }, [secret, 'another-secret'])).toEqual({
      [R]: 1,
      [`${R} 2`]: 2,
    })
  })

  test('may be nested deeper than a stack, and have a field that is called __proto__', () => {
    let deep = JSON.parse(`${'['.repeat(50_000)}"${secret}"${']'.repeat(50_000)}`)
    deep = redactDeep(deep, [secret])
    while (Array.isArray(deep)) deep = deep[0]
    expect(deep).toBe(R)
    const odd = redactDeep(JSON.parse(`{"__proto__":{"a":"${secret}"}}`), [secret])
    expect(JSON.stringify(odd)).toBe(`{"__proto__":{"a":"${R}"}}`)
    expect(odd.a).toBe(undefined)
  })

  test('of any shape are unchanged when there is nothing to redact', () => {
    const prepared = new KnownSecrets(['something that is in none of them'])
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(redactDeep(value, prepared)).toEqual(value)
      }),
    )
  })
})
