import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { DEFAULT_LIMITS, type Limits } from '../../src/kinds/workspace/limits.ts'
import { ask } from './connect.ts'
import type { Keys, sharedKeys } from './keys.ts'
import { Script } from './script.ts'

/** The number of a workspace. KEYS: workspaces. ARGV: name. */
const NUMBER = `
local number = redis.call('HGET', KEYS[1], ARGV[1])
if not number then
  number = redis.call('HLEN', KEYS[1]) + 1
  redis.call('HSET', KEYS[1], ARGV[1], number)
end
return tonumber(number)
`

/** Creates an empty workspace, unless it exists. KEYS: meta. ARGV: limits. */
const MAKE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return end
redis.call('HSET', KEYS[1], 'head', '0', 'version', 0, 'seq', 0, 'lastId', 0, 'activeClaims', 0, 'activeSessions', 0, 'limits', ARGV[1])
`

/** The number of a project; false if there is no such workspace. KEYS: meta, projects. ARGV: slug. */
const PROJECT = `
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
local number = redis.call('HGET', KEYS[2], ARGV[1])
if not number then
  number = redis.call('HLEN', KEYS[2]) + 1
  redis.call('HSET', KEYS[2], ARGV[1], number)
end
return tonumber(number)
`

/**
 * How many agents a track may have; false if there is no such workspace. Leaves a new head, so that no process writes that
 * read the old limit. KEYS: meta, tracks. ARGV: track, how many, the new head.
 */
const TRACK = `
if redis.call('EXISTS', KEYS[1]) == 0 then return false end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('HSET', KEYS[1], 'head', ARGV[3])
return 1
`

const number = new Script(NUMBER)
const make = new Script(MAKE)
const project = new Script(PROJECT)
const track = new Script(TRACK)

const noSuchWorkspace = (workspaceId: number) => new Error(`workspace ${workspaceId} does not exist`)

/** The workspace of this name. Two steps, since its keys may be in another slot; the second is repeated if it was missed. */
export async function ensureWorkspace(
  client: Redis,
  { workspaces }: ReturnType<typeof sharedKeys>,
  keysOf: (workspaceId: number) => Keys,
  name: string,
  limits: Partial<Limits>,
): Promise<number> {
  const whole = JSON.stringify({ ...DEFAULT_LIMITS, ...limits })
  return ask(client, async () => {
    const workspaceId = await number.run<number>(client, [workspaces], [name])
    await make.run(client, [keysOf(workspaceId).meta], [whole])
    return workspaceId
  })
}

export async function ensureProject(
  client: Redis,
  { meta, projects }: Keys,
  workspaceId: number,
  slug: string,
): Promise<number> {
  const projectId = await ask(client, () => project.run<number | null>(client, [meta, projects], [slug]))
  if (projectId === null) throw noSuchWorkspace(workspaceId)
  return projectId
}

export async function setTrack(
  client: Redis,
  { meta, tracks }: Keys,
  workspaceId: number,
  name: string,
  maxAgents: number | null,
): Promise<void> {
  const most = maxAgents === null ? '' : String(maxAgents)
  const set = await ask(client, () =>
    track.run<number | null>(client, [meta, tracks], [name, most, randomUUID()]),
  )
  if (set === null) throw noSuchWorkspace(workspaceId)
}

export async function metaOf<F extends string>(
  client: Redis,
  { meta }: Keys,
  workspaceId: number,
  fields: readonly F[],
): Promise<Record<F, string>> {
  const values = await ask(client, () => client.hmget(meta, ...fields))
  if (values[0] === null) throw noSuchWorkspace(workspaceId)
  return Object.fromEntries(fields.map((field, i) => [field, values[i]])) as Record<F, string>
}
