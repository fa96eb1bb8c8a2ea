import { Combiner } from '../src/kernel/combiner.ts'
import type { TaskCommand } from '../src/kinds/task/command.ts'
import type { Reply } from '../test/support/replies.ts'
import { closedLoop, type Measured, openLoop } from './drive.ts'
import { type Bed, type Lot, uuidOf } from './setup.ts'

const CALLERS = 1_000
const fence = { session: 's-1', generation: 1 }
const CLAIM: TaskCommand = {
  kind: 'claim',
  agent: 'alpha',
  session: 's-1',
  leaseMs: 60_000,
  capabilities: [],
}
const SUBMIT: TaskCommand = {
  kind: 'submit',
  fence,
  submission: { data: '{"ok":true}', hash: '4b8a0c6e1f0d4a55b1c2d3e4f5061728', bytes: 11, summary: null },
}

/** One command on one of the tasks, through the store's combiner. A refusal would falsify the figure, so it throws. */
function asker(bed: Bed, combiner: Combiner, lot: Lot, command: TaskCommand) {
  return async (index: number): Promise<Reply> => {
    const request = {
      on: 'task',
      taskId: lot.firstId + index,
      uuid: uuidOf(lot, index),
      command,
      actor: 'agent:alpha',
    } as const
    const reply = await combiner.run(bed.workspaceId, request)
    if (!reply.ok) throw new Error(`${command.kind} was refused: ${reply.code}`)
    return reply
  }
}

/** The next task of the queue, whichever it is. */
export async function nextOf(bed: Bed, combiner: Combiner): Promise<void> {
  const pick = { agent: 'alpha', capabilities: [] }
  const request = {
    on: 'next',
    pick,
    session: 's-1',
    leaseMs: 60_000,
    limit: 1,
    actor: 'agent:alpha',
  } as const
  const reply = await combiner.run(bed.workspaceId, request)
  if (!reply.ok || !('claims' in reply) || reply.claims.length !== 1) throw new Error('next gave nothing')
}

export async function kernelClaims(bed: Bed, lot: Lot): Promise<Measured> {
  return closedLoop(CALLERS, lot.count, asker(bed, new Combiner(bed.store), lot, CLAIM))
}

export async function kernelSubmits(bed: Bed, lot: Lot): Promise<Measured> {
  return closedLoop(CALLERS, lot.count, asker(bed, new Combiner(bed.store), lot, SUBMIT))
}

/** Claim and release of `sample` tasks spread over everything stored, round after round; each pair counts as two. */
export class KernelRounds {
  readonly #bed: Bed
  readonly #lot: Lot
  readonly #sample: number
  readonly #combiner: Combiner
  #generation = 0

  constructor(bed: Bed, lot: Lot, sample: number) {
    this.#bed = bed
    this.#lot = lot
    this.#sample = sample
    this.#combiner = new Combiner(bed.store)
  }

  async run(): Promise<Measured> {
    this.#generation += 1
    const sample = this.#sample
    const stride = Math.floor(this.#lot.count / sample)
    // Neither in the order of the table nor neighbours: 7919 is a prime, so every task is reached.
    const place = (i: number) => ((i * 7919) % sample) * stride
    const fence = { session: 's-1', generation: this.#generation }
    const release: TaskCommand = { kind: 'release', fence, reason: 'VOLUNTARY' }
    const ask = [CLAIM, release].map((command) => asker(this.#bed, this.#combiner, this.#lot, command))
    const [claims, releases] = [
      await closedLoop(CALLERS, sample, (i) => ask[0]!(place(i))),
      await closedLoop(CALLERS, sample, (i) => ask[1]!(place(i))),
    ]
    const seconds = claims.count / claims.perSecond + releases.count / releases.perSecond
    const count = claims.count + releases.count
    return {
      count,
      perSecond: count / seconds,
      p50Ms: Math.max(claims.p50Ms, releases.p50Ms),
      p99Ms: Math.max(claims.p99Ms, releases.p99Ms),
      nodeMicros: (claims.nodeMicros + releases.nodeMicros) / 2,
    }
  }
}

/** 50,000 claims and 10,000 submits a second, at a fixed rate. Submits use tasks that were claimed before. */
export async function kernelOpenLoop(
  bed: Bed,
  claims: Lot,
  claimed: Lot,
  seconds: number,
): Promise<{ claims: Measured; submits: Measured }> {
  const combiner = new Combiner(bed.store)
  const [claim, submit] = await openLoop(seconds, [
    { perSecond: 50_000, ask: asker(bed, combiner, claims, CLAIM) },
    { perSecond: 10_000, ask: asker(bed, combiner, claimed, SUBMIT) },
  ])
  return { claims: claim!, submits: submit! }
}
