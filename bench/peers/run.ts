import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

/** One measurement of a job queue. */
export interface PeerSample {
  name: string
  version: string
  /** What is left of a task when it is completed. */
  keeps: string
  enqueueMs: number
  workMs: number
  /** In bulk from the first task enqueued to the last one completed; one at a time without the enqueueing. */
  tasksPerSecond: number
  /** Of the peer's process and of its server, over the same time. */
  cpuMicros: number
  /** Null where there is no such log. */
  walBytes: number | null
}

/** A server that holds queues. */
export interface QueueServer {
  url: string
  /** What it has used and written until now. */
  read: () => Promise<ServerReading>
  /** Removes what earlier runs left, where their programs cannot. */
  empty?: () => Promise<void>
  /** Does now what the server would otherwise do at a random time, in the middle of one peer's measurement. */
  calm?: () => Promise<void>
}

interface ServerReading {
  cpuMs: number
  walBytes: number | null
}

/** What a peer's program prints. */
interface Line {
  peer: string
  version: string
  keeps: string
  tasks: number
  enqueueMs: number
  workMs: number
  enqueueCpuMs: number
  workCpuMs: number
}

export interface PeerLoad {
  tasks: number
  /** One task at a time by so many workers; 0: as many at once as the peer can. */
  workers: number
  /** The folder of a built checkout of Baton, to compare with an earlier one. */
  build?: string | undefined
}

// Below the source: anything installed next to the compiled file would be deleted by the next build.
const FOLDER = resolve('bench/peers')
/** A peer that loses a task would wait for it forever. */
const LONGEST_RUN_MS = 300_000

export type PeerName = 'bullmq' | 'graphile-worker' | 'pg-boss' | 'baton'

/** Of another queue, whose program sometimes exits before its work is done. Baton has one. */
const MOST_TRIES = 3

/** A job queue at its fastest settings, in a process of its own. */
export async function measurePeer(name: PeerName, server: QueueServer, load: PeerLoad): Promise<PeerSample> {
  await installUnlessDone()
  for (let tries = 1; ; tries++) {
    try {
      return await measureOnce(name, server, load)
    } catch (error) {
      if (name === 'baton' || tries === MOST_TRIES) throw error
      process.stderr.write(`${(error as Error).message} It is measured again.\n`)
    }
  }
}

async function measureOnce(name: PeerName, server: QueueServer, load: PeerLoad): Promise<PeerSample> {
  const { tasks, workers, build = resolve('.') } = load
  await server.empty?.()
  // A fork has the Node options of this process, so that peers are not worse off than Baton.
  const program = fork(join(FOLDER, `${name}.mjs`), [server.url, String(tasks), String(workers), build], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const readings: ServerReading[] = []
  program.on('message', async () => {
    if (readings.length === 0) await server.calm?.()
    readings.push(await server.read())
    program.send('read')
  })
  const tooLong = setTimeout(() => program.kill('SIGKILL'), LONGEST_RUN_MS)
  const [output, [code]] = await Promise.all([text(program.stdout!), once(program, 'close')])
  clearTimeout(tooLong)
  if (code !== 0 || readings.length !== 3) throw new Error(`${name} failed (${code}).`)
  const isBulk = workers === 0
  // Told before the enqueueing, before the work and after it.
  return sampleOf(JSON.parse(output), isBulk, readings[isBulk ? 0 : 1]!, readings[2]!)
}

function sampleOf(line: Line, isBulk: boolean, before: ServerReading, after: ServerReading): PeerSample {
  const { tasks, enqueueMs, workMs, enqueueCpuMs, workCpuMs } = line
  const ownCpuMs = workCpuMs + (isBulk ? enqueueCpuMs : 0)
  const isLogged = before.walBytes !== null && after.walBytes !== null
  return {
    name: line.peer,
    version: line.version,
    keeps: line.keeps,
    enqueueMs,
    workMs,
    tasksPerSecond: (tasks / (workMs + (isBulk ? enqueueMs : 0))) * 1000,
    cpuMicros: ((ownCpuMs + after.cpuMs - before.cpuMs) * 1000) / tasks,
    walBytes: isLogged ? (after.walBytes! - before.walBytes!) / tasks : null,
  }
}

/** Not among Baton's dependencies: only the comparison needs them. */
async function installUnlessDone(): Promise<void> {
  const manifest = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const isThere = ([name, version]: [string, unknown]) => {
    const folder = join(FOLDER, 'node_modules', name)
    return existsSync(folder) && manifest(folder).version === version
  }
  const wanted = Object.entries(manifest(FOLDER).dependencies)
  if (wanted.every(isThere)) return
  console.log(
    `Installing ${wanted.map(([name, version]) => `${name} ${version}`).join(', ')} in bench/peers …`,
  )
  const quietly = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel=error']
  const npm = spawn('npm', ['install', ...quietly], {
    cwd: FOLDER,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = await once(npm, 'close')
  if (code !== 0) throw new Error(`The peers could not be installed (npm install in bench/peers: ${code}).`)
}
