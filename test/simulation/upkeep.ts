import type { Request } from '../../src/core/batch/requests.ts'
import type { TaskCommand } from '../../src/core/commands.ts'
import type { TaskRecord } from '../../src/core/records.ts'
import { readinessOf } from '../../src/core/rules/create.ts'
import type { BlockedTask } from '../../src/store/store.ts'
import { isToBeJudged } from './coordinator.ts'
import { cyclesWereSearched } from './cycles.ts'
import { hashOf } from './trace.ts'
import type { World } from './world.ts'

/**
 * What time and finished work require, from outside: it reads without a lock, so its requests may be out of date on arrival.
 * It reads everything itself, since the queries by which stores find due work use another clock.
 */
export async function sweepForever(world: World): Promise<void> {
  const { random, scheduler } = world
  for (;;) {
    await scheduler.sleep(random.int(500, 6_000), 'upkeep')
    await sweep(world)
    await sweepBlocked(world)
    await sweepSessions(world)
    if (world.store.hasAgents) await sweepAgents(world)
  }
}

async function sweep(world: World): Promise<void> {
  const { random, store, scheduler } = world
  const { now } = scheduler
  const isDue = ({ claimState, leaseExpiresAt, dueAt }: TaskRecord) => {
    // Sometimes requested a little early: by the time it is judged the lease may be over, or renewed.
    const early = random.chance(0.3) ? 5_000 : 0
    const leaseOver = claimState === 'active' && leaseExpiresAt! <= now + early
    return leaseOver || (dueAt !== null && dueAt <= now) || random.chance(0.03)
  }
  const records = (await store.tasks()).map(({ record }) => record)
  for (const record of records)
    if (record.state === 'verifying' && random.chance(0.25))
      ask(world, record, verdict(world, record.generation), random.int(0, 30_000))
  const due = records.filter(isDue)
  const checked = await cyclesWereSearched(
    world,
    due.filter(({ blocked }) => blocked),
  )
  for (const record of due)
    if (checked || !record.blocked) ask(world, record, { kind: 'elapse', version: record.version })
}

async function sweepBlocked(world: World): Promise<void> {
  const { store } = world
  const records = (await store.tasks()).map(({ record }) => record)
  if (!records.some(({ blocked }) => blocked)) return
  const waiting = await store.downstreamOf(records.map(({ id }) => id))
  for (const blocked of waiting.sort((a, b) => a.taskId - b.taskId)) {
    const record = records.find(({ id }) => id === blocked.taskId)
    const command = await wayOn(world, blocked, records)
    if (record && command) ask(world, record, command, joiningMs(world, command))
  }
}

/** The command for a task about its dependencies. */
async function wayOn(
  world: World,
  { taskId, merge, triggerRule, upstream, version }: BlockedTask,
  records: readonly TaskRecord[],
): Promise<TaskCommand | null> {
  // A merged task needs all its parts, whatever rule it had before it was divided.
  const readiness = readinessOf(merge === 'none' ? triggerRule : 'all_success', upstream)
  if (readiness === 'wait' && !world.random.chance(0.05)) return null
  if (readiness !== 'ready' || merge !== 'object') {
    const because = 'an upstream task ended'
    return { kind: 'unblock', readiness, because, version: readiness === 'ready' ? version : undefined }
  }
  return merged(
    world,
    version,
    records.filter(({ parentId }) => parentId === taskId),
  )
}

/** Merging many results may take a while; and so may the time between read and command. */
function joiningMs({ random, calm }: World, { kind }: TaskCommand): number {
  if (calm || !random.chance(kind === 'merge' ? 0.7 : 0.35)) return 0
  return random.int(0, 20_000)
}

async function merged(
  { store }: World,
  version: number,
  parts: readonly TaskRecord[],
): Promise<TaskCommand | null> {
  const results = await Promise.all(parts.map(({ id }) => store.results(id)))
  const accepted = parts.map(({ epoch }, i) =>
    results[i]!.find((result) => result.epoch === epoch && result.accepted),
  )
  // Read one after the other, they need not be consistent.
  if (accepted.some((result) => result === undefined)) return null
  const data = JSON.stringify({ parts: accepted.map((result) => result!.data) })
  const submission = { data, bytes: data.length, hash: hashOf(data), summary: null }
  const read = parts.map(({ id, generation }, i) => ({ id, generation, hash: accepted[i]!.hash }))
  return { kind: 'merge', version, parts: read, submission }
}

const verdict = ({ random }: World, generation: number): TaskCommand => ({
  kind: 'verdict',
  verdict: random.weighted({ passed: 3, failed: 3, unsure: 1 }),
  note: null,
  generation,
})

async function sweepSessions(world: World): Promise<void> {
  const { store, random, scheduler } = world
  const sessions = (await store.sessions()).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const { name, dueAt } of sessions) {
    const early = random.chance(0.3) ? 3_000 : 0
    if (!(dueAt !== null && dueAt <= scheduler.now + early) && !random.chance(0.01)) continue
    const command = { kind: 'elapse' } as const
    send(world, `comes to ${name}`, {
      on: 'session',
      actor: 'system',
      key: name,
      uuid: world.uuid(),
      command,
    })
  }
}

async function sweepAgents(world: World): Promise<void> {
  const { store, random, scheduler } = world
  for (const { record, holding } of await store.agents()) {
    const early = random.chance(0.3) ? 3_000 : 0
    if (!isToBeJudged(record, holding.length, scheduler.now + early) && !random.chance(0.01)) continue
    const { slug } = record
    const command = { kind: 'elapse' } as const
    send(world, `comes to ${slug}`, { on: 'agent', actor: 'system', key: slug, uuid: world.uuid(), command })
  }
}

/** The answer is not awaited: what was not done is found again at the next check. */
function ask(world: World, record: TaskRecord, command: TaskCommand, thinksMs = 0): void {
  const { id: taskId, uuid } = record
  const request: Request = { on: 'task', actor: 'system', taskId, uuid, command }
  send(world, `comes to ${world.nameOf(taskId)}`, request, record, thinksMs)
}

/** A long list takes a while. */
function send(
  world: World,
  label: string,
  request: Request,
  seen: TaskRecord | null = null,
  thinksMs = 0,
): void {
  const { network, scheduler, random } = world
  const sender = { name: 'upkeep', clock: () => scheduler.now }
  const delayMs = thinksMs + (random.chance(0.3) ? random.int(0, 4_000) : 0)
  scheduler.after(delayMs, `upkeep ${label}`, () => {
    network.call(sender, request, seen).catch(() => undefined)
  })
}
