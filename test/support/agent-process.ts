import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { until } from './nodes.ts'

/** Agents in a process of their own, which can be killed and stopped like any other. */

const PROGRAM = join(import.meta.dirname, 'processes/agent.mjs')

export interface AgentSettings {
  url: string
  key: string
  slugs: readonly string[]
  session?: string
  capacity?: number
  batchSize?: number
  claims?: boolean
  leaseSeconds?: number
  heartbeatMs?: number
  staleSeconds?: number
  registers?: boolean
  steps?: number
  stepMs?: number
  together?: boolean
  starts?: boolean
  holdsAt?: number
  heartbeatsAtWork?: boolean
}

/** What an agent reported. */
export interface Report {
  is: 'online' | 'state' | 'requests' | 'has' | 'started' | 'progress' | 'done' | 'refused'
  agent: string
  taskId?: string
  generation?: number
  attempt?: number
  step?: number
  checkpointData?: { step: number } | null
  code?: string
  act?: string
  state?: string
}

export interface AgentProcess {
  child: ChildProcess
  said: Report[]
  ended: Promise<unknown>
  /** Resolves when it has reported an entry that matches these fields. */
  reports(is: Report['is'], more?: Partial<Report>): Promise<Report>
  /** Lets waiting work continue. */
  go(): void
}

export function launchAgents(settings: AgentSettings): AgentProcess {
  const child = spawn(process.execPath, [PROGRAM], {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', BATON_AGENT: JSON.stringify(settings) },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const said: Report[] = []
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    said.push(...lines.map((line) => JSON.parse(line) as Report))
  })
  // A killed process does not read its input.
  child.stdin.on('error', () => undefined)
  const isIt = (one: Report, wanted: Partial<Report>) =>
    Object.entries(wanted).every(([name, value]) => one[name as keyof Report] === value)
  return {
    child,
    said,
    ended: once(child, 'close'),
    reports: (is, more = {}) => until(async () => said.find((one) => isIt(one, { is, ...more }))),
    go: () => void child.stdin.write('go\n'),
  }
}
