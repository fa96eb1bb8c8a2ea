import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type {
  AdapterHooks,
  AdapterInvokeResult,
  AgentRunAdapter,
  StatusColor,
  TokenUsage,
} from '../../../src/adapters/protocol.ts'

/** Runs of an adapter on its fake program, in a folder of their own that is removed afterwards. */

export const scriptOf = (program: string) => resolve(import.meta.dirname, `${program}.mjs`)

export interface Heard {
  statuses: { message: string; color?: StatusColor }[]
  events: { type: string; payload: Record<string, unknown> }[]
  usages: TokenUsage[]
  logBytes: number
  stdout: string
}

export interface Call {
  pid: number
  args: string[]
  prompt: string
  cwd: string
}

export interface RunOptions {
  /** How the program behaves: FAKE_CLI. */
  mode?: string
  prompt?: string
  config?: Record<string, unknown>
  state?: Record<string, unknown>
  env?: Record<string, string>
  timeoutSec?: number
  cwd?: string
  signal?: AbortSignal
  hooks?: AdapterHooks
  onEvent?: (type: string) => void
  onUsage?: (usage: TokenUsage) => void
  /** With all of its standard output so far. */
  onOutput?: (stdout: string) => void
}

const LONGEST_KEPT = 1_000_000

export function useCli(adapter: AgentRunAdapter, program: string) {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'baton-cli-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  const fresh = () => mkdtemp(join(folder, 'home-'))

  return {
    fresh,
    /** The rest of a run's input, for tests that call the adapter itself. */
    async scenario(mode: string) {
      const home = await fresh()
      return {
        cwd: home,
        adapterConfig: { command: scriptOf(program), graceSec: 1 },
        env: environment(home, { mode }),
      }
    },
    /** One run; `home` is where the program stores its sessions. */
    async run(
      home: string,
      options: RunOptions = {},
    ): Promise<{ result: AdapterInvokeResult; heard: Heard }> {
      const heard: Heard = { statuses: [], events: [], usages: [], logBytes: 0, stdout: '' }
      const result = await adapter.invoke(
        {
          protocolVersion: 'agent-run/v1',
          companyId: 'c',
          agentId: 'a',
          runId: randomUUID(),
          wakeupSource: 'on_demand',
          cwd: options.cwd ?? home,
          prompt: options.prompt ?? 'Do it',
          adapterConfig: { command: scriptOf(program), graceSec: 1, ...options.config },
          runtimeState: options.state ?? {},
          agentState: {},
          env: environment(home, options),
          timeoutSec: options.timeoutSec ?? 50,
        },
        options.hooks ?? hooksInto(heard, options),
        options.signal ?? new AbortController().signal,
      )
      return { result, heard }
    },
    calls(home: string): Call[] {
      const file = join(home, 'calls.jsonl')
      if (!existsSync(file)) return []
      return readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    },
    probe: (home: string, options: RunOptions = {}) =>
      adapter.probe!(
        {
          cwd: options.cwd ?? home,
          adapterConfig: { command: scriptOf(program), ...options.config },
          env: environment(home, options),
        },
        new AbortController().signal,
      ),
  }
}

function environment(home: string, { mode, env }: RunOptions): Record<string, string> {
  return {
    PATH: process.env.PATH!,
    HOME: home,
    FAKE_CLI_HOME: home,
    ...(mode && { FAKE_CLI: mode }),
    ...env,
  }
}

function hooksInto(heard: Heard, { onEvent, onUsage, onOutput }: RunOptions): AdapterHooks {
  return {
    status: async (update) => void heard.statuses.push(update),
    usage: async (usage) => {
      heard.usages.push(usage)
      onUsage?.(usage)
    },
    event: async (type, payload) => {
      heard.events.push({ type, payload })
      onEvent?.(type)
    },
    log: async ({ stream, chunk }) => {
      heard.logBytes += Buffer.byteLength(chunk)
      if (stream !== 'stdout') return
      if (heard.stdout.length < LONGEST_KEPT) heard.stdout += chunk
      onOutput?.(heard.stdout)
    },
  }
}

export const eventsOf = (heard: Heard, type: string) =>
  heard.events.filter((event) => event.type === type).map(({ payload }) => payload)

export const grandchildOf = (home: string) => Number(readFileSync(join(home, 'grandchild.pid'), 'utf8'))
