import { comparePeers, type PeerFigure, type PeerLine } from './peers/compare.ts'

/** A job costs pg-boss more the more of them wait: a short queue is to its advantage. */
const SHORT_QUEUE = 2_000

/** What fleets do: each worker takes one task, finishes it and takes the next. Enqueueing is not part of it. */
export function oneAtATime(
  tasks: number,
  before: string | undefined,
  say: (what: string) => void,
): Promise<PeerFigure[]> {
  const lines = [64, 256].flatMap((workers): PeerLine[] => [
    { name: 'baton', on: 'postgres', workers },
    ...(before ? [{ name: 'baton', on: 'postgres', workers, build: before } as const] : []),
    { name: 'graphile-worker', on: 'postgres', workers },
    { name: 'pg-boss', on: 'postgres', workers, most: SHORT_QUEUE },
    { name: 'baton', on: 'valkey', workers },
    ...(before ? [{ name: 'baton', on: 'valkey', workers, build: before } as const] : []),
    { name: 'bullmq', on: 'valkey', workers },
  ])
  return comparePeers(lines, tasks, (what) => say(`o ${what}`))
}
