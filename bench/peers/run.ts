import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

export interface PeerFigure {
  name: string
  version: string
  /** From the first task enqueued to the last one completed. */
  tasksPerSecond: number
  /** Of the peer's process and of its server. */
  cpuSecondsPer1000: number
  enqueueMs: number
  workMs: number
}

/** A server that holds queues. */
export interface QueueServer {
  url: string
  /** What it has used until now, in milliseconds. */
  cpuMs: () => number
}

/** What a peer's program prints. */
interface Line {
  peer: string
  version: string
  tasks: number
  enqueueMs: number
  workMs: number
  totalMs: number
  cpuMs: number
}

// Below the source: anything installed next to the compiled file would be deleted by the next build.
const FOLDER = resolve('bench/peers')
/** A peer that loses a task would wait for it forever. */
const LONGEST_RUN_MS = 300_000

const PEERS = ['bullmq', 'graphile-worker', 'pg-boss', 'baton'] as const

/** A job queue at its fastest settings, in a process of its own. */
export async function measurePeer(
  name: (typeof PEERS)[number],
  server: QueueServer,
  tasks: number,
): Promise<PeerFigure> {
  await installUnlessDone()
  // A fork has the Node options of this process, so that peers are not worse off than Baton.
  const program = fork(join(FOLDER, `${name}.mjs`), [server.url, String(tasks)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const readings: number[] = []
  program.on('message', () => {
    readings.push(server.cpuMs())
    program.send('read')
  })
  const tooLong = setTimeout(() => program.kill('SIGKILL'), LONGEST_RUN_MS)
  const [output, [code]] = await Promise.all([text(program.stdout!), once(program, 'close')])
  clearTimeout(tooLong)
  const [before, after] = readings
  if (code !== 0 || before === undefined || after === undefined) throw new Error(`${name} failed (${code}).`)
  return figureOf(JSON.parse(output), after - before)
}

function figureOf(line: Line, serverCpuMs: number): PeerFigure {
  return {
    name: line.peer,
    version: line.version,
    tasksPerSecond: (line.tasks / line.totalMs) * 1000,
    // Milliseconds for each task are seconds for each thousand.
    cpuSecondsPer1000: (line.cpuMs + serverCpuMs) / line.tasks,
    enqueueMs: line.enqueueMs,
    workMs: line.workMs,
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
