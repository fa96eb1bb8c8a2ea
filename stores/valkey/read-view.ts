import type { Redis } from 'ioredis'
import { dependencyName, keyName, NO_AGENTS, type StoredReply } from '../../src/kernel/batch/requests.ts'
import { sessionsOf, workersOf } from '../../src/kernel/store/assemble-view.ts'
import type { ReadSet, SeenSession } from '../../src/kernel/store/portable.ts'
import type { Worker } from '../../src/kinds/task/command.ts'
import type { SessionRecord, TaskRecord } from '../../src/kinds/task/record.ts'
import type { CountedDependency } from '../../src/kinds/task/rules/upstream-counts.ts'
import { DEFAULT_LIMITS } from '../../src/kinds/workspace/limits.ts'
import { readCounted, readMarkedTask, type TaskMarks } from './codec.ts'
import { ask as onceConnected } from './connect.ts'
import { freshIds } from './fresh-ids.ts'
import { encoded, heldIdOf, holdingFrom, holdingTo, idOf, type Keys } from './keys.ts'
import { nameOf, type ReadQueues } from './known-queues.ts'
import { type Bulk, readMore } from './read-more.ts'
import { READ_VIEW } from './read-view.lua.ts'
import { Script } from './script.ts'
import type { Read, Seen } from './seen.ts'

const MOST_NAMES = 2_000
/** At most this many ready tasks are read for later batches. */
const MOST_AHEAD = 1_000
const script = new Script(READ_VIEW)

type ViewReply = [
  found: 'seen',
  time: [seconds: string, micros: string],
  hasWriterLock: number,
  meta: string[],
  shown: string[][],
  seenBy: number[][],
  holding: string[][],
  records: Bulk[],
  claimants: ([record: string, holds: number] | null)[],
  answers: unknown[],
  queueKeys: string[],
  depth: number[],
  hasReserved: number,
  hasWorkers: number,
]

/**
 * Null while another process has the writer lock, or when two reads are not consistent with each other: then read again. One
 * round trip, and a second one where tracks or past generations matter.
 */
export async function readView(
  client: Redis,
  keys: Keys,
  workspaceId: number,
  readSet: ReadSet,
  { token, insists, ahead }: { token: string; insists: boolean; ahead: number },
): Promise<Read | null> {
  const questions = new Pipeline()
  const read = askAll(questions, keys, readSet)
  const values = [
    token,
    insists ? '1' : '0',
    keys.tag,
    JSON.stringify(queueQueriesOf(keys, readSet, ahead)),
    JSON.stringify(reservedQueriesOf(keys, readSet)),
    ...counted(readSet.kinds.session.flatMap((name) => [holdingFrom(name), holdingTo(name)])),
    ...counted(readSet.claimants.flatMap((name) => [name, holdingFrom(name), holdingTo(name)])),
    ...questions.flat(),
  ]
  const reply = await onceConnected(client, () =>
    script.run<ViewReply | ['wait'] | ['none']>(
      client,
      [keys.meta, keys.writerLock, keys.writerQueue],
      values,
    ),
  )
  if (reply[0] === 'wait') return null
  if (reply[0] === 'none') throw new Error(`workspace ${workspaceId} does not exist`)
  questions.answers = reply[9]
  const found = readIn(readSet, reply, read)
  const tracks = readSet.claimants.length > 0 ? read.declaredTracks() : 0
  return (await readMore(client, keys, readSet, found.seen, tracks)) && found
}

function readIn(readSet: ReadSet, reply: ViewReply, read: ReturnType<typeof askAll>): Read {
  const [, time, hasWriterLock, meta, shown, seenBy, holding, found, claimants, , ...more] = reply
  const [queueKeys, depth, hasReserved, hasWorkers] = more
  const [head, version, seq, lastId, activeClaims, activeSessions, limits] = meta
  const { records, marks } = tasksIn([...read.tasks(), ...found])
  const queues = shown.map((ids) => ids.map(idOf))
  const waitingByQuery = seenBy.map((places) =>
    places.length === 1
      ? queues[places[0]!]!
      : inOrder(
          places.flatMap((place) => queues[place]!),
          records,
        ),
  )
  const sessions = readSessions(readSet, holding, read.sessions(), read.lost())
  const seen: Seen = {
    head: head!,
    version: Number(version),
    seq: Number(seq),
    lastId: Number(lastId),
    hasWriterLock: hasWriterLock === 1,
    marks,
    view: {
      // The server's clock, at the time of the read.
      now: Number(time[0]) * 1000 + Math.floor(Number(time[1]) / 1000),
      limits: { ...DEFAULT_LIMITS, ...JSON.parse(limits!) },
      activeClaims: Number(activeClaims),
      records,
      waiting: waitingByQuery.slice(0, readSet.waiting.length),
      reserved: waitingByQuery.slice(readSet.waiting.length).flat(),
      pastHolders: new Map(),
      dependencies: dependenciesIn(readSet, read.dependencies()),
      fresh: freshIds(Number(lastId), readSet.newTasks),
      takenKeys: takenAmong(readSet, read.taken()),
      storedReplies: readStoredReplies(readSet, read.storedReplies()),
      workers: readWorkers(readSet, claimants),
      kinds: { session: { seen: sessions, counted: Number(activeSessions) } },
      tracks: new Map(),
      ...NO_AGENTS,
    },
  }
  return {
    seen,
    queues: queuesIn(readSet, queueKeys, depth, queues, seenBy),
    isPlain: hasReserved === 0 && read.declaredTracks() === 0,
    hasWorkers: hasWorkers === 1,
  }
}

function queuesIn(
  { waiting }: ReadSet,
  keys: readonly string[],
  depth: readonly number[],
  queues: readonly number[][],
  seenBy: readonly number[][],
): ReadQueues {
  return {
    seenBy: new Map(waiting.map((query, i) => [nameOf(query), seenBy[i]!.map((place) => keys[place]!)])),
    queues: new Map(keys.map((key, i) => [key, { ids: queues[i]!, isWhole: queues[i]!.length < depth[i]! }])),
  }
}

function tasksIn(texts: readonly Bulk[]): {
  records: Map<number, TaskRecord>
  marks: Map<number, TaskMarks>
} {
  const records = new Map<number, TaskRecord>()
  const marks = new Map<number, TaskMarks>()
  for (const text of texts) {
    if (text === null) continue
    const task = readMarkedTask(text)
    records.set(task.record.id, task.record)
    marks.set(task.record.id, task.marks)
  }
  return { records, marks }
}

/** Commands whose answers come with the read. */
class Pipeline {
  readonly #commands: string[][] = []
  answers: unknown[] = []

  ask<T>(...command: string[]): () => T {
    const place = this.#commands.push(command) - 1
    return () => this.answers[place] as T
  }

  /** One command for many names; in pieces, since a script cannot take them all at once. */
  askAll<T>(command: readonly string[], names: readonly string[]): () => T[] {
    const pieces: (() => T[])[] = []
    for (let i = 0; i < names.length; i += MOST_NAMES)
      pieces.push(this.ask<T[]>(...command, ...names.slice(i, i + MOST_NAMES)))
    return () => pieces.flatMap((piece) => piece())
  }

  flat = () => this.#commands.flatMap(counted)
}

const counted = (texts: readonly string[]) => [String(texts.length), ...texts]

function askAll(questions: Pipeline, keys: Keys, readSet: ReadSet) {
  const each = <T, N = string>(names: readonly N[], command: (name: N) => string[]) => {
    const answers = names.map((name) => questions.ask<T>(...command(name)))
    return () => answers.map((answer) => answer())
  }
  const newKeys = readSet.newKeys.map(({ projectId, key }) => keyName(projectId, key))
  return {
    tasks: questions.askAll<Bulk>(['MGET'], readSet.taskIds.map(keys.task)),
    sessions: questions.askAll<Bulk>(['MGET'], readSet.kinds.session.map(keys.session)),
    lost: each<string[]>(readSet.kinds.session, (name) => [
      'ZRANGE',
      keys.lost(name),
      '0',
      '-1',
      'WITHSCORES',
    ]),
    taken: questions.askAll<Bulk>(['HMGET', keys.taskKeys], newKeys),
    storedReplies: questions.askAll<Bulk>(['MGET'], readSet.idempotencyKeys.map(keys.storedReplies)),
    dependencies: each<Bulk[], [number, string[]]>(countedFields(readSet), ([id, ons]) => [
      'HMGET',
      keys.counted(id),
      ...ons,
    ]),
    declaredTracks: questions.ask<number>('HLEN', keys.tracks),
  }
}

/** By task, in pieces that a script can take at once. */
function countedFields({ dependencies }: ReadSet): [taskId: number, dependsOn: string[]][] {
  const fields: [number, string[]][] = []
  const byTask = new Map<number, string[]>()
  for (const { taskId, dependsOn } of dependencies) {
    let own = byTask.get(taskId)
    if (!own || own.length === MOST_NAMES) {
      own = []
      byTask.set(taskId, own)
      fields.push([taskId, own])
    }
    own.push(String(dependsOn))
  }
  return fields
}

function dependenciesIn(readSet: ReadSet, texts: readonly Bulk[][]): Map<string, CountedDependency> {
  const found = new Map<string, CountedDependency>()
  for (const [i, [taskId, ons]] of countedFields(readSet).entries())
    for (const [j, on] of ons.entries()) {
      const text = texts[i]![j]
      if (text) found.set(dependencyName(taskId, Number(on)), readCounted(text))
    }
  return found
}

const queueQuery = (keys: Keys, agent: string | null, capabilities: readonly string[], limit: number) => ({
  index: keys.queues(agent),
  prefix: keys.queuePrefix(agent),
  capabilities: capabilities.map(encoded),
  limit,
})

const queueQueriesOf = (keys: Keys, { waiting }: ReadSet, ahead: number) =>
  waiting.map(({ capabilities, projectId, trackQueues, limit }) => ({
    ...queueQuery(keys, null, capabilities, Math.max(limit, Math.min(limit * ahead, MOST_AHEAD))),
    project: projectId === null ? false : String(projectId),
    trackQueues: trackQueues ?? false,
  }))

const reservedQueriesOf = (keys: Keys, { reserved }: ReadSet) =>
  reserved.map(({ agent, capabilities, limit }) => queueQuery(keys, agent, capabilities, limit))

/** A query may match several queues, one for each set of capabilities. */
function inOrder(ids: number[], records: ReadonlyMap<number, TaskRecord>): number[] {
  return ids.sort((a, b) => records.get(a)!.rank! - records.get(b)!.rank! || a - b)
}

function takenAmong(readSet: ReadSet, taken: readonly Bulk[]): Set<string> {
  const names = readSet.newKeys.map(({ projectId, key }) => keyName(projectId, key))
  return new Set(names.filter((_, i) => taken[i] !== null))
}

function readStoredReplies(readSet: ReadSet, texts: readonly Bulk[]): Map<string, StoredReply> {
  const storedReplies = new Map<string, StoredReply>()
  for (const [i, key] of readSet.idempotencyKeys.entries()) {
    const text = texts[i]
    if (text) storedReplies.set(key, JSON.parse(text))
  }
  return storedReplies
}

function readWorkers(readSet: ReadSet, claimants: ViewReply[8]): Map<string, Worker> {
  const found = new Map(readSet.claimants.map((name, i) => [name, claimants[i] ?? null]))
  return workersOf(readSet, (name) => {
    const [text, held] = found.get(name) ?? []
    return text === undefined ? null : { record: JSON.parse(text) as SessionRecord, held: held! }
  })
}

function readSessions(
  readSet: ReadSet,
  holding: string[][],
  texts: readonly Bulk[],
  lost: readonly string[][],
) {
  const placeOf = new Map(readSet.kinds.session.map((name, i) => [name, i]))
  return sessionsOf(readSet.kinds.session, (name) => {
    const place = placeOf.get(name)!
    const text = texts[place]
    if (!text) return null
    const record = JSON.parse(text) as SessionRecord
    return {
      record,
      holding: holding[place]!.map(heldIdOf),
      lost: lostSince(record.lastSeenAt, lost[place]!),
    }
  })
}

function lostSince(lastSeenAt: number, withScores: readonly string[]): SeenSession['lost'] {
  const lost: SeenSession['lost'] = []
  for (let i = 0; i < withScores.length; i += 2) {
    const at = Number(withScores[i + 1])
    const [taskId, generation, reason] = JSON.parse(withScores[i]!)
    if (at > lastSeenAt) lost.push({ taskId, generation, reason, at })
  }
  return lost
}
