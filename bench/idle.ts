import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { launch, ownerKeyIn } from '../test/support/launched.ts'
import { interleaved, type Spread, spreadOf } from './rounds.ts'
import { cpuMsOfProcessTree } from './server-cpu.ts'

export interface IdleFigure {
  callers: number
  seconds: number
  /** CPU of the server and its database over the time that passed: 1 is a whole core. */
  shareOfCore: Spread
  /** The same while callers wait. */
  shareWithCallers: Spread
}

const CALLERS = 50
/** The longest that a caller may wait: none of them asks again while it is measured. */
const WAIT_MS = 60_000
const TIMES = 3
/** A server that has just started is not idle: it compiles, plans its statements and returns memory for about a minute. */
const START_MS = 90_000
/** Statistics and checkpoints that follow the callers. */
const SETTLE_MS = 8_000

/** A server with its own database, alone and with agents that wait for work that does not come. */
export async function idleServer(seconds: number, say: (what: string) => void): Promise<IdleFigure> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const server = launch({ BATON_DATA: folder })
  try {
    const url = await server.ready
    const call = callsTo(url, ownerKeyIn(folder))
    const agents = Array.from({ length: CALLERS }, (_, n) => `agent-${n}`)
    for (const agent of agents) await call('PUT', `/agents/${agent}`, { capabilities: [agent] })
    say('p the server settles after its start')
    await sleep(START_MS)
    const rounds = await interleaved(TIMES, [
      async () => {
        say(`p nobody waits for ${seconds} s`)
        await sleep(SETTLE_MS)
        return shareOfCore(server.child.pid!, seconds)
      },
      async () => {
        say(`p ${CALLERS} callers wait for ${seconds} s`)
        const leaving = new AbortController()
        const waiting = agents.map((agent) =>
          call('POST', '/claims/next', { agent, session: agent, waitMs: WAIT_MS }, leaving.signal).catch(
            (error) => {
              if (!leaving.signal.aborted) throw error
            },
          ),
        )
        await sleep(SETTLE_MS)
        const share = await shareOfCore(server.child.pid!, seconds)
        leaving.abort()
        await Promise.all(waiting)
        return share
      },
    ])
    const [alone, withCallers] = rounds.map(spreadOf) as [Spread, Spread]
    return { callers: CALLERS, seconds, shareOfCore: alone, shareWithCallers: withCallers }
  } finally {
    server.child.kill('SIGTERM')
    await server.ended
    rmSync(folder, { recursive: true, force: true })
  }
}

async function shareOfCore(pid: number, seconds: number): Promise<number> {
  const [cpuMs, from] = [cpuMsOfProcessTree(pid), performance.now()]
  await sleep(seconds * 1000)
  return (cpuMsOfProcessTree(pid) - cpuMs) / (performance.now() - from)
}

const callsTo =
  (url: string, key: string) =>
  async (method: string, path: string, body: unknown, signal?: AbortSignal): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const asked = { method, headers, body: JSON.stringify(body), signal: signal ?? null }
    const answer = await fetch(`${url}/api/v1${path}`, asked)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  }
