import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  elapsed,
  type Flag,
  type Heard,
  heard,
  WatchSettings,
  watching,
} from '../../../src/kinds/run/rules/watchdog.ts'

/** The watchdog of a run: what counts as a loop, what as silence, and that nothing else does. */

const call = (signature: string, isError = false): Heard => ({ kind: 'call', signature, isError })
const output: Heard = { kind: 'output' }
const activity: Heard = { kind: 'activity' }

/** A run under the watchdog, from time 0 on; what was flagged, in order. */
function watched(
  settings: Partial<WatchSettings> = {},
  reportsActivity = false,
  stallMs: number | null = null,
) {
  let watch = watching(WatchSettings.parse(settings), 0, { reportsActivity, stallMs })
  let now = 0
  const flags: (Flag & { stop: boolean })[] = []
  let isStopped = false
  const take = (next: ReturnType<typeof elapsed>) => {
    watch = next.watch
    isStopped = next.stop
    if (next.flag) flags.push({ ...next.flag, stop: next.stop })
  }
  const run = {
    flags,
    isStopped: () => isStopped,
    hears(...events: Heard[]) {
      for (const event of events) take(heard(watch, event, now))
      return run
    },
    /** Time passes; the watchdog checks every five seconds. */
    waits(seconds: number) {
      const end = now + seconds * 1000
      while (now < end) {
        now = Math.min(end, now + 5_000)
        take(elapsed(watch, now))
      }
      return run
    },
  }
  return run
}

const calls = (...signatures: string[]) => signatures.map((signature) => call(signature))
const many = (count: number, event: Heard) => Array.from({ length: count }, () => event)

describe('a run that repeats the same call', () => {
  test('is flagged at the fourth, once, and stopped at the eighth', () => {
    const run = watched()
    expect(run.hears(...calls('a', 'a', 'a')).flags).toEqual([])
    run.hears(call('a'))
    const flag = { code: 'loop_detected', detail: 'the same call 4 times in a row: a', stop: false }
    expect(run.flags).toEqual([flag])
    expect(run.hears(...calls('a', 'a', 'a')).flags).toHaveLength(1)
    expect(run.isStopped()).toBe(false)
    run.hears(call('a'))
    expect(run.flags[1]).toMatchObject({ detail: 'the same call 8 times in a row: a', stop: true })
    expect(run.isStopped()).toBe(true)
  })

  test('stays stopped, and the reason is reported once', () => {
    const run = watched()
      .hears(...many(20, call('a')), call('b'), activity)
      .waits(5_000)
    expect(run.flags.filter(({ stop }) => stop)).toHaveLength(1)
    expect(run.isStopped()).toBe(true)
  })

  test('is not saved by output between the calls', () => {
    const run = watched()
    for (let i = 0; i < 8; i++) run.hears(activity, output, call('a'))
    expect(run.isStopped()).toBe(true)
  })

  test('is flagged again when it did something else in between', () => {
    const run = watched().hears(...many(4, call('a')), call('b'), ...many(4, call('a')))
    expect(run.flags.map(({ stop }) => stop)).toEqual([false, false])
  })

  test('has its call named briefly, however long it is', () => {
    const [flag] = watched().hears(...many(4, call('x'.repeat(1_000_000)))).flags
    expect(flag!.detail.length).toBeLessThan(300)
  })
})

describe('a run whose calls fail', () => {
  test('is flagged at the third in a row and stopped at the sixth, whichever calls they are', () => {
    const run = watched()
    for (const name of 'abc') run.hears(call(name, true))
    expect(run.flags).toEqual([
      { code: 'loop_detected', detail: '3 failed calls in a row, the last one c', stop: false },
    ])
    for (const name of 'de') run.hears(call(name, true))
    expect(run.isStopped()).toBe(false)
    expect(run.hears(call('f', true)).isStopped()).toBe(true)
    expect(run.flags).toHaveLength(2)
  })

  test('is not flagged as long as one succeeds from time to time', () => {
    const run = watched()
    for (let i = 0; i < 50; i++) run.hears(call(`a${i}`, true), call(`b${i}`, true), call(`c${i}`))
    expect(run.flags).toEqual([])
  })

  test('that reports no errors has none', () => {
    const run = watched()
    for (let i = 0; i < 50; i++) run.hears({ kind: 'call', signature: `${i}` })
    expect(run.flags).toEqual([])
  })
})

describe('a run that alternates between two calls', () => {
  test('is flagged after three rounds and stopped after six', () => {
    const run = watched().hears(...calls('a', 'b', 'a', 'b', 'a'))
    expect(run.flags).toEqual([])
    run.hears(call('b'))
    expect(run.flags).toEqual([
      { code: 'loop_detected', detail: '3 rounds of two calls: a and b', stop: false },
    ])
    run.hears(...calls('a', 'b', 'a', 'b', 'a'))
    expect([run.isStopped(), run.flags.length]).toEqual([false, 1])
    expect(run.hears(call('b')).isStopped()).toBe(true)
  })

  test('is noticed even if something else came before', () => {
    const run = watched().hears(...calls('x', 'a', 'a', 'b', 'a', 'b', 'a', 'b'))
    expect(run.flags).toHaveLength(1)
  })

  test('is not flagged when it alternates between three, or stops', () => {
    expect(watched().hears(...calls(...'abcabcabcabcabcabc')).flags).toEqual([])
    expect(watched().hears(...calls(...'ababcababcababc')).flags).toEqual([])
    expect(watched().hears(...calls(...'ababbababbababb')).flags).toEqual([])
  })
})

describe('a run without output', () => {
  test('is flagged after 300 s, once, and stopped after 1,200 s', () => {
    const run = watched().waits(295)
    expect(run.flags).toEqual([])
    run.waits(5)
    expect(run.flags).toEqual([{ code: 'no_progress', detail: 'no output for 5 min', stop: false }])
    expect(run.waits(895).flags).toHaveLength(1)
    run.waits(5)
    expect(run.flags[1]).toEqual({
      code: 'no_progress',
      detail: 'no output for 20 min',
      stop: true,
    })
  })

  test('is cleared as soon as it prints, and flagged again when it goes silent again', () => {
    for (const event of [output, activity, call('a')]) {
      const run = watched().waits(1_195).hears(event).waits(295)
      expect([run.flags.length, run.isStopped()]).toEqual([1, false])
      expect(run.waits(5).flags).toHaveLength(2)
    }
  })
})

describe('a run that prints without progress', () => {
  const prints = (run: ReturnType<typeof watched>, seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 10) run.waits(10).hears(output)
    return run
  }

  test('is flagged after 900 s and stopped after 1,800 s, if it reported progress before', () => {
    const run = prints(watched().hears(activity), 890)
    expect(run.flags).toEqual([])
    prints(run, 20)
    expect(run.flags).toMatchObject([{ code: 'no_progress', stop: false }])
    expect(run.flags[0]!.detail).toBe('output but no progress for 15 min')
    expect(prints(run, 870).flags).toHaveLength(1)
    expect(prints(run, 30).isStopped()).toBe(true)
  })

  test('is flagged from its start on when its adapter would report progress', () => {
    expect(prints(watched({}, true), 920).flags).toHaveLength(1)
  })

  test('is flagged again when it made progress in between', () => {
    const run = prints(prints(watched().hears(activity), 950).hears(activity), 950)
    expect(run.flags.map(({ stop }) => stop)).toEqual([false, false])
  })

  test('is not one that was allowed to be silent', () => {
    const run = watched({ silentSec: 0, stopSilentSec: 0 }).hears(activity).waits(10_000)
    expect(run.flags).toEqual([])
  })

  test('is not flagged when its progress cannot be known', () => {
    expect(prints(watched(), 10_000).flags).toEqual([])
  })

  test('is cleared as soon as it makes progress', () => {
    for (const event of [activity, call('a')]) {
      const run = prints(prints(watched().hears(activity), 950).hears(event), 800)
      expect([run.flags.length, run.isStopped()]).toEqual([1, false])
    }
  })
})

describe('the settings of the watchdog', () => {
  test('have defaults, and 0 turns a rule off', () => {
    expect(WatchSettings.parse({})).toEqual({
      sameCalls: 4,
      errors: 3,
      rounds: 3,
      silentSec: 300,
      stopSilentSec: 1_200,
      idleSec: 900,
      stopIdleSec: 1_800,
    })
    expect(watched({ sameCalls: 0 }).hears(...many(100, call('a'))).flags).toEqual([])
    const failing = watched({ errors: 0, sameCalls: 0 }).hears(...many(100, call('a', true)))
    expect(failing.flags).toEqual([])
    expect(watched({ rounds: 0 }).hears(...calls(...'ab'.repeat(50))).flags).toEqual([])
    expect(watched({ silentSec: 0, stopSilentSec: 0 }).waits(10_000).flags).toEqual([])
    const neverStopped = watched({ stopSilentSec: 0 }).waits(10_000)
    expect([neverStopped.flags.length, neverStopped.isStopped()]).toEqual([1, false])
    const stoppedAtOnce = watched({ silentSec: 0, stopSilentSec: 60 }).waits(60)
    expect(stoppedAtOnce.flags).toMatchObject([{ code: 'no_progress', stop: true }])
  })

  test('can be stricter', () => {
    expect(
      watched({ sameCalls: 2 })
        .hears(...many(4, call('a')))
        .isStopped(),
    ).toBe(true)
    expect(watched({ errors: 1 }).hears(call('a', true)).flags).toHaveLength(1)
    expect(watched({ rounds: 2 }).hears(...calls(...'abab')).flags).toHaveLength(1)
  })

  test.each([
    [{ sameCalls: 1 }, 'sameCalls', 'must be 0 (off) or at least 2'],
    [{ rounds: 1 }, 'rounds', 'must be 0 (off) or at least 2'],
    [{ errors: -1 }, 'errors', ''],
    [{ silentSec: 1.5 }, 'silentSec', ''],
    [{ stopSilentSec: 100 }, 'stopSilentSec', 'must not be shorter than silentSec'],
    [{ stopIdleSec: 100 }, 'stopIdleSec', 'must not be shorter than idleSec'],
    [{ silent: 3 }, '', ''],
  ])('are refused as %j, by name', (settings, field, message) => {
    const { issues } = WatchSettings.safeParse(settings).error!
    expect(issues.map(({ path }) => path.join('.'))).toEqual([field])
    expect(issues[0]!.message).toContain(message)
  })
})

describe('whatever an agent does', () => {
  const event = fc.oneof(
    fc.record({
      kind: fc.constant('call' as const),
      signature: fc.constantFrom('a', 'b', 'c'),
      isError: fc.boolean(),
    }),
    fc.constant(activity),
    fc.constant(output),
  )

  test('different calls that succeed never flag it', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.constant(activity), fc.constant(output))), (between) => {
        const run = watched()
        for (let i = 0; i < 30; i++) run.hears(call(`call ${i}`), ...between)
        expect(run.flags).toEqual([])
      }),
    )
  })

  test('it is never stopped without a reason, and never before it was flagged', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const run = watched().hears(...events)
        const stops = run.flags.filter(({ stop }) => stop)
        expect(stops).toHaveLength(run.isStopped() ? 1 : 0)
        if (run.isStopped()) expect(run.flags[0]!.stop).toBe(false)
      }),
    )
  })

  test('loops are found exactly as a scan of the whole history finds them', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const run = watched().hears(...events)
        const made = events.filter((one) => one.kind === 'call')
        const anyWindow = (length: number, test: (window: typeof made) => boolean) =>
          made.some((_, at) => at + length <= made.length && test(made.slice(at, at + length)))
        const isFound =
          anyWindow(4, (window) => window.every(({ signature }) => signature === window[0]!.signature)) ||
          anyWindow(3, (window) => window.every(({ isError }) => isError)) ||
          anyWindow(
            6,
            (window) =>
              window[0]!.signature !== window[1]!.signature &&
              window.every(({ signature }, i) => signature === window[i % 2]!.signature),
          )
        expect(run.flags.length > 0).toBe(isFound)
      }),
      { numRuns: 1_000 },
    )
  })
})

test.each([
  ['output', output],
  ['a tool call', call('a')],
  ['progress', activity],
])('%s is a sign of life: the stall timeout of its task counts from the last one', (_what, event) => {
  const run = watched({}, false, 60_000)
  run.waits(55).hears(event).waits(55)
  expect(run.flags).toEqual([])
  run.waits(5)
  expect(run.flags).toMatchObject([{ code: 'stalled', stop: true }])
})
