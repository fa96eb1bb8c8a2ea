import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { Random } from '../simulation/random.ts'
import {
  allGone,
  embeddedUrl,
  isRunning,
  killProcess,
  type Launched,
  launch,
  ownerKeyIn,
  type Process,
  processesOn,
} from '../support/launched.ts'
import { dataFolder } from '../support/servers/data-folder.ts'
import { contradictions } from './checks.ts'
import { assertNotNow, Client, followEvents, isKept, repeatRequests, type Server, settle } from './clients.ts'
import { Ledger } from './ledger.ts'

/**
 * Crashes of a server and of its database while clients work, and what must hold afterwards.
 *
 * `BATON_CRASH_SEED=… npx vitest run test/recovery/crash.test.ts` makes the same choices again, as far as a race can be repeated.
 */
const seed = Number(process.env.BATON_CRASH_SEED ?? Date.now() % 2 ** 31)
const random = new Random(seed)
const CLIENTS = 16
const RECOVERY_MS = 20_000

let folder = ''
let launched: Launched[] = []

/** Whatever is left of a round that failed. */
export async function cleanUp(): Promise<void> {
  for (const { child } of launched.splice(0)) child.kill('SIGKILL')
  for (const process_ of processesOn(folder)) killProcess(process_)
  await allGone(folder)
  await rm(folder, { recursive: true, force: true })
}

async function freshFolder(): Promise<string> {
  folder = await mkdtemp(join(dataFolder(), 'baton-crash-'))
  await chmod(folder, 0o755)
  return folder
}

function startBaton(): Launched {
  const baton = launch({ BATON_DATA: folder })
  launched = [...launched.filter(({ child }) => child.exitCode === null && child.signalCode === null), baton]
  return baton
}

const serverOf = async (baton: Launched): Promise<Server> => ({
  url: await baton.ready,
  ownerKey: ownerKeyIn(folder),
})

/** Room for many claims, and leases short enough to end during the test. */
async function widenLimits({ url, ownerKey }: Server): Promise<void> {
  const response = await fetch(`${url}/api/v1/limits`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${ownerKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ minLeaseSeconds: 1, maxConcurrentClaims: 1_000_000 }),
  })
  expect(response.status).toBe(200)
}

const crew = (ledger: Ledger) =>
  Array.from({ length: CLIENTS }, (_, i) => new Client(`c${i}`, random.int(1, 2 ** 30), ledger))

/** After a crash: unanswered requests are repeated, then every answer ever given must be true. */
async function verify(server: Server, ledger: Ledger, clients: readonly Client[], round: string) {
  await settle(server, ledger, clients)
  const kept = ledger.all.filter((asked) => asked.key !== null && isKept(asked))
  const some = Array.from({ length: Math.min(20, kept.length) }, () => random.pick(kept))
  await repeatRequests(server, some)
  expect(await contradictions(embeddedUrl(folder), ledger), `${round}, seed ${seed}`).toEqual([])
}

async function endInOrder(baton: Launched, known: readonly Process[]): Promise<void> {
  baton.child.kill('SIGTERM')
  expect(await baton.ended).toEqual({ code: 0, signal: null })
  expect(processesOn(folder)).toEqual([])
  expect(known.filter(isRunning)).toEqual([])
}

/** kill -9 of the server: during so many starts, then in the middle of so many rounds of work. */
export async function killServer({ starts, rounds }: { starts: number; rounds: number }): Promise<void> {
  await freshFolder()
  let kills = 0
  const known: Process[] = []
  const killAtStart = async (withinMs: number) => {
    const baton = startBaton()
    await sleep(random.int(0, withinMs))
    known.push(...processesOn(folder))
    baton.child.kill('SIGKILL')
    await baton.ended
    kills += 1
  }
  // Even the first start may be killed at any moment.
  for (let i = 0; i < starts; i++) await killAtStart(2_000)

  let baton = startBaton()
  let server = await serverOf(baton)
  await widenLimits(server)
  const ledger = new Ledger()
  const clients = crew(ledger)
  for (let round = 1; round <= rounds; round++) {
    const stop = new AbortController()
    const reading = followEvents(server, ledger, stop.signal)
    const working = Promise.all(clients.map((client) => client.work(server, stop.signal)))
    await Promise.race([ledger.after(random.int(1, 250)), working])
    known.push(...processesOn(folder))
    baton.child.kill('SIGKILL')
    kills += 1
    expect(await baton.ended).toEqual({ code: null, signal: 'SIGKILL' })
    stop.abort()
    await Promise.all([reading, working])
    // Like a power cut, except for the disk.
    if (round % 3 === 0) for (const process_ of processesOn(folder)) killProcess(process_)
    if (round % 4 === 0) await killAtStart(800)
    baton = startBaton()
    server = await serverOf(baton)
    await verify(server, ledger, clients, `round ${round}`)
  }
  console.log(`crash test: seed ${seed}, server killed ${kills} times, ${inNumbers(ledger)}`)
  await endInOrder(baton, known)
}

/** Which processes of the database are killed. */
const VICTIMS = {
  'the postmaster': (all: Process[], postmaster: number) => all.filter(({ pid }) => pid === postmaster),
  'one connection': (all: Process[]) => [
    random.pick(all.filter(({ command }) => / 127\.0\.0\.1\(/.test(command))),
  ],
  'one helper process': (all: Process[], postmaster: number) => [
    random.pick(all.filter(({ pid }) => pid !== postmaster)),
  ],
  'all of it': (all: Process[]) => all,
}
type Victim = keyof typeof VICTIMS

async function killDatabase(victim: Victim): Promise<Process[]> {
  const all = processesOn(join(folder, 'postgres'))
  const pidFile = await readFile(join(folder, 'postgres/cluster/postmaster.pid'), 'utf8').catch(() => '')
  for (const process_ of VICTIMS[victim](all, Number.parseInt(pidFile, 10))) killProcess(process_)
  return all
}

/** Checks the server's health all the time: it must always answer, and say 503 properly. */
async function probe({ url }: Server, stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    const response = await fetch(`${url}/health/ready`)
    const text = await response.text()
    if (response.status === 503) assertNotNow(response, text)
    else expect(response.status).toBe(200)
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    await sleep(5)
  }
}

/** kill -9 of parts of the database, or of all of it, in so many rounds of work. */
export async function killDatabaseIn(rounds: number): Promise<void> {
  await freshFolder()
  const baton = startBaton()
  const server = await serverOf(baton)
  await widenLimits(server)
  const ledger = new Ledger()
  const clients = crew(ledger)
  const known: Process[] = []
  let kills = 0
  const kill = async (victim: Victim) => {
    known.push(...(await killDatabase(victim)))
    kills += 1
  }
  for (let round = 1; round <= rounds; round++) {
    const victim = Object.keys(VICTIMS)[round % 4] as Victim
    const stop = new AbortController()
    const unavailable = ledger.unavailable
    const busy = Promise.all([
      followEvents(server, ledger, stop.signal),
      probe(server, stop.signal),
      ...clients.map((client) => client.work(server, stop.signal)),
    ]).catch(async (error) => {
      // A dead server explains more than the requests it left unanswered.
      await Promise.race([died(baton, victim), sleep(1_000)])
      throw error
    })
    const continues = (promise: Promise<unknown>) =>
      Promise.race([promise, busy, died(baton, victim), tooLong(`no work after killing ${victim}`)])
    await continues(ledger.after(random.int(1, 250)))
    await kill(victim)
    if (round % 4 === 0) {
      await continues(sleep(random.int(0, 300)))
      await kill('all of it')
    }
    // Only the server itself recovers.
    await continues(ledger.after(50))
    stop.abort()
    expect(await continues(busy)).not.toContain('server unreachable')
    expect(ledger.unavailable, `503s after killing ${victim}`).toBeGreaterThan(unavailable)
    await verify(server, ledger, clients, `round ${round}, killed ${victim}`)
  }
  console.log(`crash test: seed ${seed}, database killed ${kills} times, ${inNumbers(ledger)}`)
  await endInOrder(baton, known)
}

const died = (baton: Launched, victim: Victim) =>
  baton.ended.then(({ code, signal }) => {
    throw new Error(
      `the server ended (${signal ?? code}) after killing ${victim}: ${baton.stderr().slice(-2_000)}`,
    )
  })

const tooLong = (what: string) =>
  sleep(RECOVERY_MS, undefined, { ref: false }).then(() => {
    throw new Error(`${what} for ${RECOVERY_MS} ms`)
  })

const inNumbers = ({ all, acknowledged, unavailable, readEvents }: Ledger) => {
  const unknown = all.filter(({ outcome }) => outcome === 'unknown').length
  return `${all.length} requests, ${acknowledged} acknowledged, ${unavailable} answered 503, ${unknown} unknown for good, ${readEvents.size} events read`
}
