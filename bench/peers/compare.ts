import { interleaved, type Spread, spreadOf } from '../rounds.ts'
import { measurePeer, type PeerName, type PeerSample, type QueueServer } from './run.ts'
import { type ServerName, withQueueServer } from './servers.ts'

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

/**
 * Several rounds over the lines of one server, then over those of the next: what a server still tidies up, such as the pages of the
 * last peer, would slow down the first peer on another one. Lines on a server that cannot be installed are left out.
 */
export async function comparePeers(
  lines: readonly PeerLine[],
  tasks: number,
  say: (what: string) => void,
): Promise<PeerFigure[]> {
  const figures = new Map<PeerLine, PeerFigure>()
  for (const name of new Set(lines.map(({ on }) => on))) {
    const own = lines.filter(({ on }) => on === name)
    const samples = await withQueueServer(name, say, (server) =>
      interleaved(
        TIMES,
        own.map((line) => () => measureLine(line, server, tasks, say)),
      ),
    )
    for (const [i, line] of own.entries()) if (samples) figures.set(line, figureOf(line, samples[i]!))
  }
  return lines.flatMap((line) => figures.get(line) ?? [])
}

function measureLine(
  { name, on, workers, build, most = Number.POSITIVE_INFINITY }: PeerLine,
  server: QueueServer,
  tasks: number,
  say: (what: string) => void,
): Promise<PeerSample> {
  say(`${build ? 'before: ' : ''}${name} on ${on}${workers > 0 ? `, ${workers} workers` : ''}`)
  return measurePeer(name, server, { tasks: Math.min(tasks, most), workers, build })
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
