import type { Redis } from 'ioredis'
import { heldName, isOnTrack, trackName } from '../../src/kernel/batch/requests.ts'
import { pastGenerations, TrackUses } from '../../src/kernel/store/assemble-view.ts'
import type { ReadSet } from '../../src/kernel/store/portable.ts'
import type { PastHolder } from '../../src/kinds/task/rules/claim-request.ts'
import { readClaim } from './codec.ts'
import { together } from './connect.ts'
import type { Keys } from './keys.ts'
import { type KeptResult, readResult } from './results.ts'
import type { Seen } from './seen.ts'

export type Bulk = string | null

/** The tracks and past generations to read are known only now. Null when another process wrote in between. */
export async function readMore(
  client: Redis,
  keys: Keys,
  readSet: ReadSet,
  seen: Seen,
  declaredTracks: number,
): Promise<Seen | null> {
  const { records } = seen.view
  const onTracks = declaredTracks === 0 ? [] : [...records.values()].filter(isOnTrack)
  const tracks = new Map(
    onTracks.map(({ projectId, trackQueue }) => [
      trackName(projectId, trackQueue),
      { projectId, trackQueue },
    ]),
  )
  const names = [...tracks.keys()]
  const past = pastGenerations(readSet, records)
  const tasks = [...new Set(past.map(({ taskId }) => taskId))]
  if (names.length + tasks.length === 0) return seen

  const [head, ...answers] = await together(client, [
    ['hget', keys.meta, 'head'],
    ...names.map((name) => ['hget', keys.tracks, name]),
    ...names.map((name) => [
      'hgetall',
      keys.onTrack(tracks.get(name)!.projectId, tracks.get(name)!.trackQueue),
    ]),
    ...tasks.map((id) => ['lrange', keys.claims(id), 0, -1]),
  ])
  if (head !== seen.head) return null
  const uses = new TrackUses()
  for (const [i, name] of names.entries()) {
    const maxAgents = answers[i] as Bulk
    if (maxAgents === null) continue
    uses.declare(name, maxAgents === '' ? null : Number(maxAgents))
    const holders = answers[names.length + i] as Record<string, string>
    for (const [agent, count] of Object.entries(holders)) uses.holds(name, agent, Number(count))
  }
  const pastHolders = new Map<string, PastHolder>()
  for (const [i, id] of tasks.entries())
    for (const claim of (answers[2 * names.length + i] as string[]).map(readClaim))
      pastHolders.set(heldName(id, claim.generation), claim)
  seen.view = { ...seen.view, tracks: uses.byName, pastHolders }
  return seen
}

/** The results of these tasks, for changes that were decided without them. If they change in between, nothing is written. */
export async function readResults(
  client: Redis,
  keys: Keys,
  { marks }: Seen,
  taskIds: readonly number[],
): Promise<Map<number, KeptResult[]>> {
  const places = taskIds.flatMap((id) =>
    Array.from({ length: marks.get(id)!.results }, (_, place) => ({ id, place })),
  )
  const texts = await together(
    client,
    places.map(({ id, place }) => ['get', keys.result(id, place)]),
  )
  const results = new Map<number, KeptResult[]>(taskIds.map((id) => [id, []]))
  for (const [i, { id }] of places.entries()) results.get(id)!.push(readResult(texts[i] as string))
  return results
}
