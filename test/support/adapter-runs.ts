import { tmpdir } from 'node:os'
import { entryOf } from '../../src/adapters/child/identity.ts'
import { type AdapterHooks, type AdapterInvokeInput, PROTOCOL_VERSION } from '../../src/adapters/protocol.ts'
import { until } from './nodes.ts'

/** Runs of adapters without a server around them. */

let runs = 0
export const freshRunId = () => `run-${process.pid}-${Date.now()}-${++runs}`

/** An environment in which programs are found, and nothing else of this process. */
export const PLAIN_ENV = { PATH: process.env.PATH!, HOME: tmpdir() }

export const inputFor = (more: Partial<AdapterInvokeInput> = {}): AdapterInvokeInput => ({
  protocolVersion: PROTOCOL_VERSION,
  companyId: 'company-1',
  agentId: 'agent-1',
  runId: freshRunId(),
  wakeupSource: 'on_demand',
  cwd: tmpdir(),
  prompt: 'Do it.',
  adapterConfig: {},
  runtimeState: {},
  agentState: {},
  env: PLAIN_ENV,
  timeoutSec: 60,
  ...more,
})

export interface Reported {
  hook: 'status' | 'log' | 'usage' | 'event'
  /** Of an event. */
  type?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it.
  what: any
}

/** Hooks that record their calls, in order. */
export function recordingHooks() {
  const reported: Reported[] = []
  const hooks: Required<AdapterHooks> = {
    status: async (what) => void reported.push({ hook: 'status', what }),
    log: async (what) => void reported.push({ hook: 'log', what }),
    usage: async (what) => void reported.push({ hook: 'usage', what }),
    event: async (type, what) => void reported.push({ hook: 'event', type, what }),
  }
  const logged = (stream: string) =>
    reported
      .filter(({ hook, what }) => hook === 'log' && what.stream === stream)
      .map(({ what }) => what.chunk)
      .join('')
  const events = (type: string) => reported.filter((one) => one.type === type).map(({ what }) => what)
  return { hooks, reported: reported, logged, events }
}

export function isAlive(pid: number): boolean {
  return entryOf(pid)?.isZombie === false
}

export const gone = (pid: number) => until(async () => !isAlive(pid))
export const never = new AbortController().signal
