import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { processesOf } from '../../src/adapters/child/tree.ts'
import type {
  AdapterHooks,
  AdapterInvokeInput,
  AdapterInvokeResult,
  AgentRunAdapter,
} from '../../src/adapters/protocol.ts'
import { PROTOCOL_VERSION } from '../../src/adapters/protocol.ts'
import { AdapterRegistry } from '../../src/adapters/registry.ts'
import { runErrorCodes } from '../../src/kinds/run/rules/outcomes.ts'
import { inputFor, never, recordingHooks } from './adapter-runs.ts'
import { until } from './nodes.ts'

type Scenario = () => Partial<AdapterInvokeInput> | Promise<Partial<AdapterInvokeInput>>

export interface Conforming {
  adapter: AgentRunAdapter
  /** Inputs with which its agent succeeds, fails, and runs until it is stopped. */
  succeeds: Scenario
  fails: Scenario
  lasts: Scenario
  /** Settings it must refuse, with what the refusal must name. */
  badConfigs: [config: Record<string, unknown>, names: string][]
  /** Whether its agent was really called; by default, whether a process was reported. */
  hasBegun?: () => boolean
}

const circular: Record<string, unknown> = {}
circular.itself = circular
const NONSENSE: [string, unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['a text', 'command'],
  ['a list', []],
  ['a function', () => {}],
  ['a symbol', Symbol('config')],
  ['a circular structure', circular],
  [
    'something that throws when it is read',
    new Proxy(
      {},
      {
        get() {
          throw new Error('do not read')
        },
        ownKeys() {
          throw new Error('do not read')
        },
      },
    ),
  ],
  ['unknown settings', { no: 'such', setting: true }],
]

/** The contract of every adapter, whatever agent it runs. */
export function adapterConformance(name: string, conforming: Conforming) {
  const { adapter } = conforming
  const inputOf = async (scenario: Scenario, more: Partial<AdapterInvokeInput> = {}) =>
    inputFor({ ...(await scenario()), ...more })
  const invoke = async (
    scenario: Scenario,
    hooks: AdapterHooks = {},
    more: Partial<AdapterInvokeInput> = {},
  ): Promise<AdapterInvokeResult> => adapter.invoke(await inputOf(scenario, more), hooks, never)

  describe(`${name} as an adapter`, () => {
    test('describes itself', () => {
      expect(adapter.protocolVersion).toBe(PROTOCOL_VERSION)
      const registry = new AdapterRegistry()
      registry.register(adapter)
      expect(registry.list()).toHaveLength(1)
      expect(adapter.configSchema).toMatchObject({ type: 'object' })
      expect(JSON.parse(JSON.stringify(adapter.configSchema))).toEqual(adapter.configSchema)
    })

    test('accepts good settings', async () => {
      for (const scenario of [conforming.succeeds, conforming.fails, conforming.lasts])
        expect(adapter.validateConfig((await inputOf(scenario)).adapterConfig)).toEqual({ ok: true })
    })

    test.each(NONSENSE)('refuses %s as settings', (_what, config) => expectRefused(config, ''))

    test.each(conforming.badConfigs)('refuses %j and names what is wrong', expectRefused)

    function expectRefused(config: unknown, names: string) {
      const validation = adapter.validateConfig(config)
      expect(validation.ok).toBe(false)
      const { errors } = validation as { errors: string[] }
      expect(errors.length).toBeGreaterThan(0)
      for (const error of errors) expect(error).toMatch(/^\S.* .*\.$/s)
      expect(errors.join(' ')).toContain(names)
    }

    test('does not run with settings it refuses', async () => {
      const { hooks, events } = recordingHooks()
      const result = await adapter.invoke(inputFor({ adapterConfig: { no: 'such' } }), hooks, never)
      expect(result).toMatchObject({ outcome: 'failed', errorCode: 'invalid_configuration' })
      expect(result.errorMessage).toMatch(/\.$/)
      expect(events('process')).toEqual([])
    })

    test('returns success, in plain JSON', async () => {
      const result = await invoke(conforming.succeeds, recordingHooks().hooks)
      expect(result).toMatchObject({ outcome: 'succeeded' })
      expect(result.errorCode ?? null).toBeNull()
      expectPlain(result)
    })

    test('returns failure, with a code and a sentence', async () => {
      const result = await invoke(conforming.fails, recordingHooks().hooks)
      expect(result.outcome).toBe('failed')
      expect(runErrorCodes).toContain(result.errorCode)
      expect(result.errorMessage).toMatch(/\S/)
      expectPlain(result)
    })

    test('needs no hooks', async () => {
      expect((await invoke(conforming.succeeds)).outcome).toBe('succeeded')
      expect((await invoke(conforming.fails)).outcome).toBe('failed')
    })

    test.each([
      ['reject', () => Promise.reject(new Error('the database is unreachable'))],
      [
        'throw',
        () => {
          throw new Error('not even a promise')
        },
      ],
    ])('loses no outcome to hooks that %s', async (_how, hook) => {
      const hooks: AdapterHooks = { status: hook, log: hook, usage: hook, event: hook }
      const wanted = await invoke(conforming.succeeds)
      const { outcome, result, usage } = await invoke(conforming.succeeds, hooks)
      expect({ outcome, result, usage }).toEqual({
        outcome: 'succeeded',
        result: wanted.result,
        usage: wanted.usage,
      })
      expect((await invoke(conforming.fails, hooks)).outcome).toBe('failed')
    })

    test('stops on request, and leaves no process behind', async () => {
      const stop = new AbortController()
      const { hooks, reported } = recordingHooks()
      const input = await inputOf(conforming.lasts)
      const over = adapter.invoke(input, hooks, stop.signal)
      await until(async () => reported.length > 0 && (conforming.hasBegun?.() ?? true))
      stop.abort()
      const result = await over
      expect(result).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled' })
      expect(processesOf(input.runId)).toEqual([])
      expect(getEventListeners(stop.signal, 'abort')).toEqual([])
      expectPlain(result)
    })

    test('does not start when it was stopped before', async () => {
      const { hooks, events } = recordingHooks()
      const input = await inputOf(conforming.lasts)
      const result = await adapter.invoke(input, hooks, AbortSignal.abort())
      expect(result).toMatchObject({ outcome: 'cancelled', errorCode: 'cancelled' })
      expect(events('process')).toEqual([])
    })

    test('stops at its timeout, and leaves no process behind', async () => {
      const input = await inputOf(conforming.lasts, { timeoutSec: 1 })
      const stop = new AbortController()
      const result = await adapter.invoke(input, {}, stop.signal)
      expect(result).toMatchObject({ outcome: 'timed_out', errorCode: 'timeout' })
      expect(processesOf(input.runId)).toEqual([])
      expect(getEventListeners(stop.signal, 'abort')).toEqual([])
    })
  })
}

const expectPlain = (result: AdapterInvokeResult) =>
  expect(JSON.parse(JSON.stringify(result))).toEqual(result)
