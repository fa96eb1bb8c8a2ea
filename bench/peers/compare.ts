import { interleaved, type Spread, spreadOf } from '../rounds.ts'
import { measurePeer, type PeerName, type PeerSample } from './run.ts'
import type { QueueServers, ServerName } from './servers.ts'

/** What is measured: a job queue on a server, in bulk or by so many workers. */
export interface PeerLine {
  name: PeerName
  on: ServerName
  workers: number
  build?: string | undefined
  /** At most so many tasks. */
  most?: number
}

export interface PeerFigure extends Pick<PeerSample, 'name' | 'version' | 'keeps'> {
  on: ServerName
  /** 0: in bulk. */
  workers: number
  /** Whether it is the build that `--before` names. */
  isBefore: boolean
  tasksPerSecond: Spread
  cpuMicros: Spread
  walBytes: Spread | null
  enqueueMs: Spread
  workMs: Spread
}

export const TIMES = 3

/** Several rounds over all lines. Lines on servers that are not there are left out. */
export async function comparePeers(
  lines: readonly PeerLine[],
  servers: QueueServers,
  tasks: number,
  say: (what: string) => void,
): Promise<PeerFigure[]> {
  const possible = lines.filter(({ on }) => servers[on])
  const samples = await interleaved(
    TIMES,
    possible.map((line) => () => {
      const { name, on, workers, build, most = tasks } = line
      say(`${build ? 'before: ' : ''}${name} on ${on}${workers > 0 ? `, ${workers} workers` : ''}`)
      return measurePeer(name, servers[on]!, { tasks: Math.min(tasks, most), workers, build })
    }),
  )
  return possible.map((line, i) => figureOf(line, samples[i]!))
}

function figureOf({ on, workers, build }: PeerLine, samples: [PeerSample, ...PeerSample[]]): PeerFigure {
  const [{ name, version, keeps, walBytes }] = samples
  const spread = (pick: (sample: PeerSample) => number) => spreadOf(samples.map(pick))
  return {
    name,
    version,
    keeps,
    on,
    workers,
    isBefore: build !== undefined,
    tasksPerSecond: spread((sample) => sample.tasksPerSecond),
    cpuMicros: spread((sample) => sample.cpuMicros),
    walBytes: walBytes === null ? null : spread((sample) => sample.walBytes!),
    enqueueMs: spread((sample) => sample.enqueueMs),
    workMs: spread((sample) => sample.workMs),
  }
}
