import { afterAll, describe, expect, inject, test } from 'vitest'
import { decideAll } from '../../src/kernel/batch/decide-all.ts'
import {
  type ReadSet,
  type Request,
  readSetOf,
  type TrackUse,
  trackName,
} from '../../src/kernel/batch/requests.ts'
import type { View as PortableView } from '../../src/kernel/store/portable.ts'
import type { Store, StoredResult } from '../../src/kernel/store/store.ts'
import type { GrantedTask } from '../../src/kinds/replies.ts'
import type { NewTask, OnTask, TaskCommand } from '../../src/kinds/task/command.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import { FAILURE_CLASSES } from '../../src/kinds/task/rules/retry.ts'
import { outcomeOf } from '../../src/kinds/task/rules/upstream-counts.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { ProjectFairness } from '../../src/pure/fairness.ts'
import { TRIGGER_RULES, taskStates } from '../../src/pure/states.ts'
import { missedTasks } from '../support/missed-tasks.ts'
import { batchStep } from '../support/nodes.ts'
import type { Reply } from '../support/replies.ts'
import { rounds } from '../support/rounds.ts'
import { openStore, type StoreUnderTest } from '../support/stores.ts'
import { newTask, sha256 } from '../support/tasks.ts'

/** The same requests at the same times on both: every request must get the same answer, at every step. */

const HOUR = 3_600_000
const SEEDS = rounds(3, 60)
const STEPS = 60

/** Numbers that are the same for the same seed (mulberry32). */
function chance(seed: number) {
  let a = seed
  const next = () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (n: number) => Math.floor(next() * n)
  const of = <T>(list: readonly T[]): T => list[below(list.length)]!
  const some = <T>(list: readonly T[]): T[] => list.filter(() => next() < 0.4)
  return { below, of, some, yes: (p = 0.5) => next() < p }
}

const AGENTS = ['alpha', 'beta', 'gamma']
const SESSIONS = ['s-1', 's-2', 'w-1', 'w-2', 'naïve {session}']
const CAPABILITIES = ['a', 'b', 'c,d']
const TRACKS = ['A', 'B']
const USERS = ['ann', 'bob']

type Rejected = Pick<TaskRecord, 'id' | 'uuid'> &
  Pick<StoredResult, 'generation' | 'session' | 'hash' | 'ref'>

class Player {
  readonly #dice: ReturnType<typeof chance>
  readonly known: TaskRecord[] = []
  /** Results that a person may promote. */
  readonly rejected: Rejected[] = []
  #keys = 0

  /** Plain: nothing that makes the store read before each batch, so that most are decided on what it knows. */
  readonly #isPlain: boolean

  constructor(seed: number, isPlain: boolean) {
    this.#dice = chance(seed)
    this.#isPlain = isPlain
  }

  requests(now: number): Request[] {
    return Array.from({ length: 1 + this.#dice.below(5) }, () => this.#request(now))
  }

  #request(now: number): Request {
    const { below, of, yes } = this.#dice
    const idempotency =
      !this.#isPlain && yes(0.15) ? { key: `key-${below(20)}`, bodyHash: `hash-${below(2)}` } : undefined
    const common = { actor: 'key:test', idempotency }
    // Tasks come faster than they are taken, so that there are some behind those that are known.
    const what = this.#isPlain && yes(0.3) ? below(2) : below(10)
    if (this.known.length === 0 || what === 0)
      return {
        ...common,
        on: 'new',
        tasks: Array.from({ length: 1 + below(4) }, (_, i) => this.#newTask(now, i)),
      }
    if (what === 1)
      return {
        ...common,
        on: 'next',
        pick: {
          agent: of(AGENTS),
          capabilities: this.#dice.some(CAPABILITIES),
          projectId: yes(0.2) ? below(3) : undefined,
          tracks: yes(0.2) ? [of(TRACKS)] : undefined,
        },
        session: of(SESSIONS),
        leaseMs: 60_000 * (1 + below(60)),
        limit: 1 + below(3),
      }
    if (what === 2 && !(this.#isPlain && yes(0.7))) return { ...common, on: 'session', ...this.#session() }
    if (what === 3) return { ...common, on: 'many', items: [this.#onTask(now), this.#onTask(now)] }
    return { ...common, on: 'task', ...this.#onTask(now) }
  }

  #newTask(now: number, place: number): NewTask {
    const { below, of, yes, some } = this.#dice
    if (this.#isPlain)
      return newTask({ priority: 1 + below(3), projectId: below(2), capabilities: yes(0.2) ? ['a'] : [] })
    const waitsFor = yes(0.3) ? some(this.known).slice(0, 3) : []
    const key = yes(0.4) ? `${of(TRACKS)}-${String(1 + (this.#keys++ % 300)).padStart(3, '0')}-x` : null
    const parent = yes(0.15) && this.known.length > 0 ? of(this.known) : null
    return newTask(
      {
        key: key && parent ? `${key}::1` : key,
        projectId: key ? 1 + below(2) : below(3),
        parent: parent && { id: parent.id, uuid: parent.uuid },
        merge: parent ? of(['object', 'task']) : 'none',
        priority: 1 + below(10),
        maxRetries: below(3),
        onlyAgent: yes(0.2) ? of(AGENTS) : null,
        capabilities: yes(0.3) ? some(CAPABILITIES) : [],
        verification: of(['none', 'none', 'none', 'human', 'verifier']),
        runAt: yes(0.15) ? now + (below(20) - 5) * HOUR : null,
        expiresAt: yes(0.15) ? now + below(200) * HOUR : null,
        dependsOnNew: place > 0 && yes(0.2) ? [place - 1] : [],
        unique: yes(0.1) ? { key: `once-${below(5)}`, bodyHash: 'same' } : null,
        triggerRule: of(TRIGGER_RULES),
        title: `task ${below(1000)}`,
        userId: yes(0.3) ? of(USERS) : null,
        input: { n: below(10) },
      },
      waitsFor,
    )
  }

  #session(): Pick<Extract<Request, { on: 'session' }>, 'key' | 'uuid' | 'command'> {
    const { below, of, yes } = this.#dice
    const name = of(SESSIONS)
    const capacity = name.startsWith('w') ? 1 + below(3) : null
    const opening = {
      agent: of(AGENTS),
      userId: null,
      project: null,
      capacity,
      capabilities: [],
      silenceMs: yes() ? HOUR : null,
    }
    const command = of([
      { kind: 'open', opening },
      { kind: 'touch', agent: of(AGENTS) },
      { kind: 'heartbeat' },
      { kind: 'heartbeat' },
      { kind: 'drain' },
      { kind: 'end', reason: 'done' },
      { kind: 'elapse' },
    ] as const)
    return { key: name, uuid: `uuid-of-${name}`, command }
  }

  #onTask(now: number): OnTask {
    const { of, yes } = this.#dice
    const rejected = this.rejected.length > 0 && yes(0.06) ? of(this.rejected) : null
    if (rejected) {
      const { id: taskId, uuid, ...result } = rejected
      return { taskId, uuid, command: { kind: 'promote', reason: null, ...result } }
    }
    const task = yes(0.5) ? of(this.known) : of(this.known.slice(-8))
    return { taskId: task.id, uuid: task.uuid, command: this.#command(task, now) }
  }

  #command(task: TaskRecord, now: number): TaskCommand {
    const { below, of, yes, some } = this.#dice
    const generation = yes(0.85) ? task.generation : Math.max(0, task.generation - 1 + below(3))
    const fence = { session: yes(0.85) && task.session ? task.session : of(SESSIONS), generation }
    const data = JSON.stringify({ by: fence.session, n: below(3) })
    const hash = sha256(data)
    const submission = { data, hash, bytes: data.length, summary: yes() ? 'short' : null }
    const claim = {
      agent: of(AGENTS),
      session: of(SESSIONS),
      leaseMs: HOUR * (1 + below(10)),
      capabilities: some(CAPABILITIES),
    }
    return of<TaskCommand>([
      { kind: 'claim', ...claim, capabilities: CAPABILITIES },
      { kind: 'claim', ...claim },
      { kind: 'claim', ...claim, capabilities: CAPABILITIES },
      { kind: 'renew', fence },
      { kind: 'start', fence },
      { kind: 'progress', fence, percent: below(100), checkpoint: { at: below(5) } },
      { kind: 'continue', fence },
      { kind: 'release', fence, reason: 'VOLUNTARY' },
      { kind: 'submit', fence, submission },
      { kind: 'submit', fence, submission },
      { kind: 'submit', fence, submission },
      { kind: 'fail', fence, failureClass: of(FAILURE_CLASSES), error: yes() ? 'broken' : null },
      { kind: 'fail', fence, failureClass: of(FAILURE_CLASSES), error: null, retryAt: now + HOUR },
      { kind: 'cancel', reason: null },
      { kind: 'pause', reason: null },
      { kind: 'resume' },
      { kind: 'retry', reason: null },
      { kind: 'reset', reason: null },
      { kind: 'approve', comment: null },
      { kind: 'reject', comment: null },
      { kind: 'verdict', verdict: of(['passed', 'failed', 'unsure']), note: null },
      { kind: 'archive' },
      { kind: 'stall', silentMs: HOUR },
      { kind: 'lose', who: 'worker', fence, silentMs: HOUR },
      {
        kind: 'update',
        ifVersion: null,
        patch: {
          priority: 1 + below(10),
          title: 'changed',
          onlyAgent: !this.#isPlain && yes(0.3) ? of(AGENTS) : undefined,
        },
      },
      { kind: 'elapse' },
      { kind: 'elapse' },
      this.#isPlain ? { kind: 'elapse' } : this.#count(task),
    ])
  }

  #count({ version }: TaskRecord): TaskCommand {
    const { below, yes, some } = this.#dice
    const edges = some(this.known)
      .slice(0, 5)
      .map(({ id, uuid, version: of, state }) => ({
        dependsOn: id,
        uuid,
        version: Math.max(1, of + below(3) - 1),
        outcome: outcomeOf(state),
      }))
    return { kind: 'countUpstream', edges, version: yes(0.3) ? version : undefined }
  }

  learn(records: readonly TaskRecord[], rejected: readonly Rejected[]): void {
    this.known.splice(0, this.known.length, ...records)
    this.rejected.splice(0, this.rejected.length, ...rejected)
  }
}

interface Side {
  store: Store
  workspace: number
  turns: ProjectFairness
  /** Memory skips ids that were reserved but not used; here both count alike. */
  lastId: number
}

/** No two stores order sets alike, nor return equally more of a queue than requested. */
function asAsked(view: PortableView, ask: ReadSet): PortableView {
  const first = (ids: readonly number[], limit: number) => {
    const shown = new Map<string, number>()
    return ids.filter((id) => {
      const { projectId, trackQueue } = view.records.get(id)!
      const name = trackName(projectId, trackQueue)
      shown.set(name, (shown.get(name) ?? 0) + 1)
      return shown.get(name)! <= limit
    })
  }
  const sessions = [...view.kinds.session.seen].map(([name, { record, holding, lost }]) => {
    const inOrder = { holding: holding.toSorted((a, b) => a - b), lost: lost.toSorted(byText) }
    return [name, { record, ...inOrder }] as const
  })
  const waiting = view.waiting.map((ids, i) => first(ids, ask.waiting[i]!.limit))
  const { counted } = view.kinds.session
  return { ...view, waiting, kinds: { session: { seen: new Map(sessions), counted } } }
}

function shown(view: PortableView, ask: ReadSet) {
  const claimable = new Set(
    [...ask.taskIds, ...view.waiting.flat(), ...view.reserved]
      .flatMap((id) => view.records.get(id) ?? [])
      .map(({ projectId, trackQueue }) => trackName(projectId, trackQueue)),
  )
  const use = (track: TrackUse | undefined) => track && [track.maxAgents, [...track.holders].toSorted()]
  return {
    activeClaims: view.activeClaims,
    activeSessions: view.kinds.session.counted,
    waiting: view.waiting.map((ids) => ids.toSorted((a, b) => a - b)),
    asked: ask.taskIds.map((id) => view.records.get(id)),
    taken: [...view.takenKeys].toSorted(),
    stored: ask.idempotencyKeys.map((key) => view.storedReplies.get(key)),
    workers: [...view.workers].toSorted(byText),
    sessions: [...view.kinds.session.seen].toSorted(byName),
    tracks:
      ask.claimants.length > 0 ? [...claimable].toSorted().map((name) => use(view.tracks.get(name))) : [],
  }
}
const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1)
const byText = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

async function play(
  side: Side,
  requests: readonly Request[],
  now: number,
): Promise<{ replies: Reply[]; seen: unknown }> {
  const ask = readSetOf(requests)
  const answer = await side.store.transact(
    side.workspace,
    batchStep(ask, (asSeen) => {
      const view = asAsked(asSeen, ask)
      const seen = structuredClone(shown(view, ask))
      const fresh = view.fresh.map((_, i) => ({ id: side.lastId + 1 + i, random: 7 }))
      const { replies, changes } = decideAll({ ...view, now, fresh }, requests, side.turns)
      side.lastId = Math.max(side.lastId, ...changes.created.map(({ record }) => record.id))
      return { answer: { replies, seen }, changes }
    }),
  )
  await checkDetails(side, answer.replies)
  return answer
}

/** Valkey gives the details of what it hands out; memory leaves it to the caller to read them. */
async function checkDetails({ store, workspace }: Side, replies: readonly Reply[]): Promise<void> {
  const handed = replies.flatMap((reply) => ('claims' in reply ? (reply.claims as GrantedTask[]) : []))
  for (const one of handed.filter(({ details }) => details !== undefined)) {
    expect([one.details]).toEqual(await store.detailsOf(workspace, [one.record]))
    delete one.details
  }
}

/** Everything that can be read. */
async function everything({ store, workspace }: Side, dice: ReturnType<typeof chance>) {
  const all: TaskRecord[] = []
  const lineages: unknown[] = []
  const rejected: Rejected[] = []
  for (let id = 1; ; id++) {
    const task = await store.task(workspace, id)
    if (!task) break
    all.push(task.record)
    const results = (await store.results(workspace, id))
      // Only stores that hold runs know how long the work took.
      .map((result) => ({ ...result, processingMs: null }))
      .toSorted(byText)
    lineages.push([task, await store.claims(workspace, id), results])
    for (const { accepted, generation, session, hash, ref } of results)
      if (accepted === false) rejected.push({ id, uuid: task.record.uuid, generation, session, hash, ref })
  }
  const ids = all.map(({ id }) => id)
  const states = dice.some(taskStates)
  const filters = [
    {},
    { userId: 'ann' },
    { deadLetters: true },
    { states },
    { states, userId: 'bob', before: 9 },
  ]
  const lists = filters.map(async (filter) =>
    (await store.tasks(workspace, filter, 7)).map(({ record }) => record.id),
  )
  const keys = all.flatMap(({ projectId, key }) => (key === null ? [] : [{ projectId, key }]))
  return {
    records: all,
    rejected,
    readable: {
      lineages,
      details: await store.detailsOf(workspace, all),
      events: await store.events(workspace, 0, 100_000),
      page: await store.events(workspace, 3, 5),
      sessions: await store.sessions(workspace, { workersOnly: false, limit: 100 }),
      workers: await store.sessions(workspace, { workersOnly: true, limit: 1 }),
      counts: await store.counts(workspace),
      lists: await Promise.all(lists),
      byKey: (await store.tasksByKey(workspace, keys)).map(({ id }) => id).toSorted((a, b) => a - b),
      due: (await store.dueTasks(1000)).toSorted(byText),
      dueSessions: (await store.dueSessions(1000)).toSorted(byText),
      untouched: (await store.heldUntouchedSince(workspace, all.at(-1)?.updatedAt ?? 0, 1000)).toSorted(
        byText,
      ),
      downstream: sorted(await store.downstreamOf(workspace, dice.some(ids))),
      forgotten: sorted(await missedTasks(store, 1000)),
    },
  }
}
const sorted = (tasks: Awaited<ReturnType<Store['downstreamOf']>>) =>
  tasks.map((task) => ({ ...task, edges: task.edges.toSorted(byText) })).toSorted(byText)

describe.skipIf(inject('valkeyUrl') === null)('valkey answers like memory', () => {
  let under: StoreUnderTest
  afterAll(() => under?.close())

  async function sides(hasTracks: boolean): Promise<[Side, Side]> {
    await under?.close()
    under = await openStore.valkey()
    const memory = new MemoryStore()
    const both = [memory, under.store] as const
    const made = await Promise.all(
      both.map(async (store) => {
        const workspace = await store.workspace('w', {
          maxConcurrentClaims: 8,
          maxActiveSessions: 3,
          maxGenerationsPerTask: 6,
        })
        for (const slug of ['one', 'two']) await store.project(workspace, slug)
        if (hasTracks) await store.setTrack(workspace, 1, 'A', 1)
        if (hasTracks) await store.setTrack(workspace, 2, 'B', null)
        return { store, workspace, turns: new ProjectFairness(), lastId: 0 }
      }),
    )
    return made as [Side, Side]
  }

  test.each(Array.from({ length: SEEDS }, (_, i) => 1 + i))('seed %i', async (seed) => {
    const isPlain = seed % 3 === 0
    const [memory, valkey] = await sides(!isPlain && seed % 2 === 0)
    const player = new Player(seed, isPlain)
    const dice = chance(seed + 1_000_000)
    // Long ago, so that what is due by these times is due by every clock.
    let now = Date.now() - 10_000 * HOUR
    for (let step = 0; step < STEPS; step++) {
      now += dice.below(3) * HOUR
      const requests = player.requests(now)
      const [here, there] = [await play(memory, requests, now), await play(valkey, requests, now)]
      expect(there, `step ${step}`).toEqual(here)
      if (step % 3 !== 0) continue
      const place = dice.below(1_000_000)
      const left = await everything(memory, chance(place))
      const right = await everything(valkey, chance(place))
      expect(right.readable, `after step ${step}`).toEqual(left.readable)
      player.learn(left.records, left.rejected)
    }
  })
})
