import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import type { Coordination } from '../src/door/coordination.ts'
import type { Execution } from '../src/door/execution.ts'
import { LiveOutput } from '../src/kernel/live-output.ts'
import { createKey } from '../src/kinds/key/postgres.ts'
import { ClaimBody } from '../src/kinds/task/shapes/claims.ts'
import { Metrics } from '../src/metrics/metrics.ts'
import { IdParams } from '../src/pure/shapes.ts'
import { route } from '../src/server/schema.ts'
import { buildServer } from '../src/server/server.ts'
import { serverDirectory } from '../src/store/directory.ts'
import { openKernel } from '../src/upkeep/open-kernel.ts'
import type { Measured } from './drive.ts'
import { interleaved, type Spread, spreadOf } from './rounds.ts'
import type { Bed, Lot } from './setup.ts'

export interface HttpLoad {
  port: number
  key: string
  connections: number
  lot: Lot
  /** Tasks a request: one claim each on its own path, or this many in a batch. */
  tasksPerRequest: number
  act: 'claim' | 'echo'
}

/** Nothing is due while claims are measured. */
const NO_LEADER: Coordination = {
  state: () => ({ nodeId: '', term: null, passes: 0, lastPassAt: null, lastPassMs: null, awaySince: null }),
  recover: () => Promise.reject(new Error('no leader')),
}

/** Nor is anything run. */
const NOTHING_RUNS: Execution = {
  live: new LiveOutput(),
  adapters: () => [],
  knows: () => true,
  hasModelSetting: () => false,
  faultsOfModel: () => [],
  faultsOf: () => [],
  withWholeFolder: ({ adapterConfig }) => ({ ok: true, adapterConfig }),
  objectionsTo: async () => [],
  probe: async () => [],
  clis: async () => [],
  accountOf: () => null,
  preview: async () => ({ prompt: '', sensitive: [] }),
  readLog: async () => null,
  commitForResult: async () => null,
  changesOf: () => Promise.reject(new Error('no repository')),
  missionChanges: async () => ({ repositories: [], elsewhere: [] }),
  discard: () => Promise.reject(new Error('no repository')),
  redact: async (_run, _token, said) => said,
  deliver: async () => 'unknown_run',
}

export interface HttpBed {
  run(load: Pick<HttpLoad, 'connections' | 'lot' | 'tasksPerRequest' | 'act'>): Promise<Measured>
  close(): Promise<void>
}

/** The server as it is served, with one route more: it checks key and body like a claim and returns the body. */
export async function makeHttpBed(bed: Bed): Promise<HttpBed> {
  const kernel = openKernel(bed.store, serverDirectory(bed.store))
  const metrics = new Metrics({
    ...{ kernel, coordinator: NO_LEADER, version: 'bench', node: 'bench', mostLabels: 100 },
    runsActive: () => 0,
  })
  const allowed = { hosts: ['127.0.0.1'], origins: [], insteadOfLocalhost: null }
  const app = await buildServer({
    kernel,
    coordinator: NO_LEADER,
    execution: NOTHING_RUNS,
    metrics,
    started: { isEmbedded: false, startMs: () => null, dataFolder: '' },
    allowed,
    logger: pino({ level: 'silent' }),
    version: 'bench',
    webApp: { folder: '/nowhere' },
  })
  app.post(
    '/api/v1/tasks/:id/echo',
    route({
      summary: 'Echo',
      tag: 'bench',
      needs: 'work',
      params: IdParams,
      body: ClaimBody,
      answer: ClaimBody,
    }),
    async ({ body }) => body,
  )
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as { port: number }
  const { key } = await createKey(
    bed.store,
    bed.workspaceId,
    { name: 'bench', role: 'member' },
    { actor: 'bench' },
  )
  return {
    run: (load) => fromAnotherProcess({ ...load, port, key }),
    async close() {
      await app.close()
      await kernel.close()
    },
  }
}

export interface EchoFigure {
  echo: Measured
  claim: Measured
  /** Claims a second, of echoes a second. */
  ratio: Spread
}

const TIMES = 3

/** One claim a request beside the route that only checks and returns, in turn. Answers the rounds in the middle. */
export async function claimsBesideEcho(bed: Bed, http: HttpBed, count: number): Promise<EchoFigure> {
  const one = { connections: 256, tasksPerRequest: 1 }
  const warm = await bed.fill(20_000)
  await http.run({ ...one, lot: warm, act: 'echo' })
  await http.run({ ...one, lot: warm, act: 'claim' })
  const lots = [await bed.fill(count), await bed.fill(count), await bed.fill(count)]
  await bed.calm()
  let round = 0
  const [echoes, claims] = await interleaved(TIMES, [
    () => http.run({ ...one, lot: lots[round]!, act: 'echo' }),
    () => http.run({ ...one, lot: lots[round++]!, act: 'claim' }),
  ])
  const ratios = claims!.map(({ perSecond }, i) => perSecond / echoes![i]!.perSecond)
  const ratio = spreadOf(ratios)
  const middle = ratios.indexOf(ratio.median)
  return { echo: echoes![middle]!, claim: claims![middle]!, ratio }
}

/** The load comes from a process of its own: a client in the server's process would be measured with it. */
async function fromAnotherProcess(load: HttpLoad): Promise<Measured> {
  const client = spawn(process.execPath, [fileURLToPath(new URL('http-client.js', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  client.stdin.end(JSON.stringify(load))
  let answer = ''
  client.stdout.on('data', (chunk) => {
    answer += chunk
  })
  const [code] = await once(client, 'close')
  if (code !== 0) throw new Error('the load client failed')
  return JSON.parse(answer)
}
