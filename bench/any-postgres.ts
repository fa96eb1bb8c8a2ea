import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '../src/embedded-postgres/start.ts'
import { type Launched, launch, ownerKeyIn } from '../test/support/launched.ts'
import { obtainDistribution, startPrivatePostgres } from '../test/support/servers/postgres.ts'
import { type Measured, measured } from './drive.ts'

const NODES = 3
const WORKERS = 50

export interface AnyPostgresFigures {
  embedded: Measured
  /** As it is installed, with its defaults. Null where there is none. */
  distribution: Measured | null
}

/** The same work by waiting workers over HTTP, three nodes on one database, on our Postgres and on the distribution's. */
export async function anyPostgres(seconds: number, say: (what: string) => void): Promise<AnyPostgresFigures> {
  say(`n ${WORKERS} waiting workers and ${NODES} nodes on the embedded Postgres`)
  const embedded = await onEmbedded((url) => waitingWorkers(url, seconds))
  const { postgres: bin } = await obtainDistribution()
  if (!bin) return { embedded, distribution: null }
  say('n the same on the distribution’s')
  const server = await startPrivatePostgres(bin)
  try {
    return { embedded, distribution: await waitingWorkers(server.url, seconds) }
  } finally {
    await server.stop()
  }
}

async function onEmbedded<T>(act: (url: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), log: () => undefined })
  try {
    return await act(postgres.url)
  } finally {
    await postgres.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each worker waits for a task, submits its result and has the next node create another: three requests a round. */
async function waitingWorkers(databaseUrl: string, seconds: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'))
  const nodes: Launched[] = []
  try {
    const urls: string[] = []
    for (let i = 0; i < NODES; i++) {
      const node = launch({ BATON_DATA: folder, DATABASE_URL: databaseUrl })
      nodes.push(node)
      urls.push(await node.ready)
    }
    const calls = urls.map((url) => callsTo(url, ownerKeyIn(folder)))
    await calls[0]!('PATCH', '/limits', { maxConcurrentClaims: 1_000 })
    // Fewer tasks than workers, so that some worker always waits.
    for (let i = 0; i < WORKERS / 2; i++) await calls[i % NODES]!('POST', '/tasks', { title: 'task' })
    await rounds(calls, seconds / 4)
    return await rounds(calls, seconds)
  } finally {
    for (const { child } of nodes) child.kill('SIGTERM')
    await Promise.all(nodes.map(({ ended }) => ended))
    rmSync(folder, { recursive: true, force: true })
  }
}

async function rounds(calls: readonly Call[], seconds: number): Promise<Measured> {
  const latencies: number[] = []
  const cpu = process.cpuUsage()
  const begin = performance.now()
  const isOver = () => performance.now() - begin > seconds * 1000
  const timed: (call: Call) => Call =
    (call) =>
    async (...asked) => {
      const at = performance.now()
      const answer = await call(...asked)
      latencies.push(performance.now() - at)
      return answer
    }
  await Promise.all(
    Array.from({ length: WORKERS }, async (_, worker) => {
      const ask = timed(calls[worker % NODES]!)
      const make = timed(calls[(worker + 1) % NODES]!)
      const who = { agent: `agent-${worker}`, session: `session-${worker}` }
      while (!isOver()) {
        // At most a second, so that all of them end.
        const { body } = await ask('POST', '/claims/next', { ...who, waitMs: 1_000 })
        const [claim] = body.claims
        if (!claim) continue
        const fence = { session: who.session, generation: claim.generation }
        await ask('POST', `/tasks/${claim.taskId}/submit`, { ...fence, result: null })
        await make('POST', '/tasks', { title: 'task' })
      }
    }),
  )
  return measured(latencies, (performance.now() - begin) / 1000, process.cpuUsage(cpu))
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into as a client would
type Call = (method: string, path: string, body: unknown) => Promise<{ body: any }>

const callsTo =
  (url: string, key: string): Call =>
  async (method, path, body) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(body) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return { body: text === '' ? null : JSON.parse(text) }
  }
