import type { Redis } from 'ioredis'
import { heldName, isOnTrack, type ReadSet, type TrackUse, trackName } from '../../core/batch/requests.ts'
import { readClaims } from './codec.ts'
import { together } from './connect.ts'
import type { Keys } from './keys.ts'
import type { ResultHead } from './results.ts'
import type { Seen } from './seen.ts'

export type Bulk = string | null

/** The tracks and past generations to read are known only now. Null when another process wrote meanwhile. */
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
  const past = readSet.offered.filter(
    ({ taskId, generation }) => generation < (records.get(taskId)?.generation ?? 0),
  )
  const tasks = [...new Set(past.map(({ taskId }) => taskId))]
  if (names.length + tasks.length === 0) return seen

  const [version, ...answers] = await together(client, [
    ['hget', keys.meta, 'version'],
    ...names.map((name) => ['hget', keys.tracks, name]),
    ...names.map((name) => [
      'hgetall',
      keys.onTrack(tracks.get(name)!.projectId, tracks.get(name)!.trackQueue),
    ]),
    ...tasks.map((id) => ['lrange', keys.claims(id), 0, -1]),
  ])
  if (Number(version) !== seen.version) return null
  const uses = new Map<string, TrackUse>()
  for (const [i, name] of names.entries()) {
    const maxAgents = answers[i] as Bulk
    if (maxAgents === null) continue
    const holders = Object.entries(answers[names.length + i] as Record<string, string>)
    const held = new Map(holders.map(([agent, count]) => [agent, Number(count)]))
    uses.set(name, { maxAgents: maxAgents === '' ? null : Number(maxAgents), holders: held })
  }
  const pastHolders = new Map<string, string>()
  for (const [i, id] of tasks.entries())
    for (const { generation, session } of readClaims(answers[2 * names.length + i] as string[]))
      pastHolders.set(heldName(id, generation), session)
  seen.view = { ...seen.view, tracks: uses, pastHolders }
  return seen
}

/** The results of these tasks, for changes that were decided without them. If they change meanwhile, nothing is written. */
export async function readResultHeads(client: Redis, keys: Keys, taskIds: readonly number[]) {
  const texts = await together(
    client,
    taskIds.map((id) => ['hget', keys.results(id), 'list']),
  )
  return taskIds.map((id, i) => [id, readHeads(texts[i] as Bulk)] as const)
}

export const readHeads = (text: Bulk): ResultHead[] => (text === null ? [] : JSON.parse(text))
