import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { runAlone } from '../../src/kernel/store/run-alone.ts'
import type { Origin } from '../../src/kinds/events.ts'
import { allRightsOf } from '../../src/kinds/key/granting.ts'
import { createKey } from '../../src/kinds/key/postgres.ts'
import { recountClaims } from '../../src/kinds/task/rules/recount.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { THE_WORKSPACE } from '../../src/kinds/workspace/record.ts'
import type { WorkspaceCommand } from '../../src/kinds/workspace/rules.ts'
import { uuidCarrying } from '../../src/pure/ids.ts'
import { EventFeed, type Stretch } from '../../src/server/live/feed.ts'
import { registerByClaim, serverDirectory } from '../../src/store/directory.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { openKernel } from '../../src/upkeep/open-kernel.ts'
import { appendEvents } from '../support/append-events.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser, until } from '../support/nodes.ts'
import { holder, Work } from '../support/tasks.ts'

const KEY = '01890a5d-ac96-774b-bcce-b302099a8057'
const by: Origin = { actor: `key:${KEY}`, keyId: KEY, address: '192.0.2.7' }

const database = await freshDatabase()
let here: PostgresStore
let there: PostgresStore
/** How many events of each workspace the other node was notified of. */
const heard = new Map<number, number>()
beforeAll(async () => {
  here = await PostgresStore.open(database.url)
  there = await PostgresStore.open(database.url)
  there.onCommit((workspace, { events }) => heard.set(workspace, (heard.get(workspace) ?? 0) + events))
})
afterAll(async () => {
  await here.close()
  await there.close()
  await database.drop()
})

const query = (text: string, values: unknown[] = []) =>
  superuser(database.url, async (client) => (await client.query(text, values)).rows)
const newWorkspace = async () => (await createWorkspace(here, 'test', 'test')).workspaceId
const logOf = (workspace: number) => here.events(workspace, 0, 100)

/** A stream of this node that waits for events after this one. */
async function streamOn(store: PostgresStore, workspace: number, after: number) {
  const kernel = openKernel(store, serverDirectory(store))
  const feed = new EventFeed(kernel)
  const pages = feed.watch(workspace, after, new AbortController().signal)
  const joined = vi.spyOn(store, 'lastSeq')
  const next = pages.next()
  await joined.mock.results[0]!.value
  joined.mockRestore()
  return {
    types: next.then(({ value }) => (value as Stretch).events.map(({ type }) => type)),
    close: async () => {
      feed.close()
      await pages.return(undefined)
      await kernel.close()
    },
  }
}

interface Change {
  event: string
  /** Done before the streams are open; its answer is for the change. */
  before?: (workspace: number) => Promise<unknown>
  change: (workspace: number, prepared: never) => Promise<unknown>
}

const caller = { actor: by.actor, origin: by }
const createProject = (workspace: number) => {
  const command = { kind: 'create', name: 'Shop' } as const
  return runAlone(here, workspace, {
    on: 'project',
    key: 'shop',
    uuid: uuidCarrying(7, Date.now(), 0),
    command,
    ...caller,
  })
}
const onWorkspace = (workspace: number, command: WorkspaceCommand) =>
  runAlone(here, workspace, { on: 'workspace', key: THE_WORKSPACE, uuid: '', command, ...caller })
const changeLimits = (workspace: number) =>
  onWorkspace(workspace, { kind: 'changeLimits', changed: { maxActiveSessions: 7 }, mayWiden: true })
const CHANGES: Change[] = [
  {
    event: 'project_created',
    change: createProject,
  },
  { event: 'project_created', change: (workspace) => here.project(workspace, 'shop') },
  {
    event: 'track_changed',
    before: (workspace) => here.project(workspace, 'shop'),
    change: (workspace, projectId) => here.setTrack(workspace, projectId, 'A', 2),
  },
  {
    event: 'project_planned',
    before: (workspace) => here.project(workspace, 'shop'),
    change: (workspace) => {
      const command = { kind: 'plan', name: null, created: 1, updated: 0 } as const
      return runAlone(here, workspace, { on: 'project', key: 'shop', uuid: '', command, ...caller })
    },
  },
  {
    event: 'limits_changed',
    change: changeLimits,
  },
  {
    event: 'key_created',
    change: (workspace) => createKey(here, workspace, { name: 'ci', role: 'member' }, by),
  },
  {
    event: 'key_revoked',
    before: async (workspace) => {
      const owner = await createKey(here, workspace, { name: 'boss', role: 'owner' }, by)
      const { keyId } = await createKey(here, workspace, { name: 'ci', role: 'member' }, by)
      return { keyId, boss: { keyId: owner.keyId, rights: allRightsOf(owner) } }
    },
    change: (workspace, { keyId, boss }: { keyId: string; boss: never }) => {
      const command = { kind: 'revoke', by: boss } as const
      return runAlone(here, workspace, { on: 'key', key: keyId, uuid: keyId, command, ...caller })
    },
  },
  {
    event: 'agent_registered',
    change: (workspace) => registerByClaim(here, workspace, new Map([['alpha', by]])),
  },
  {
    event: 'counters_corrected',
    before: (workspace) =>
      query('update baton.workspace_counters set active_claims = 3 where workspace_id = $1', [workspace]),
    change: (workspace) => here.transact(workspace, recountClaims),
  },
  {
    event: 'recovery_forced',
    change: (workspace) =>
      onWorkspace(workspace, { kind: 'note', type: 'recovery_forced', payload: { did: {} } }),
  },
  {
    event: 'task_created',
    change: (workspace) => new Work(here, workspace).create(),
  },
]

describe('a stream that waits', () => {
  // Streams also poll, by setInterval. Here they never do: without a notice they would wait forever.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval'] }))
  afterEach(() => void vi.useRealTimers())

  test('misses no commit while it reads where the log ends', async () => {
    const workspace = await newWorkspace()
    const after = await here.lastSeq(workspace)
    const read = here.lastSeq.bind(here)
    vi.spyOn(here, 'lastSeq').mockImplementationOnce(async (id) => {
      const lastSeq = await read(id)
      await createProject(workspace)
      return lastSeq
    })
    const stream = await streamOn(here, workspace, after)
    expect(await stream.types).toEqual(['project_created'])
    await stream.close()
  })

  test.each(CHANGES)(
    'shows $event at once, on this node and on another',
    async ({ event, before, change }) => {
      const workspace = await newWorkspace()
      const prepared = await before?.(workspace)
      const { length: after } = await logOf(workspace)
      // An earlier notice that is still under way would wake the stream, too.
      await until(async () => heard.get(workspace) === after)
      const streams = [await streamOn(here, workspace, after), await streamOn(there, workspace, after)]
      await change(workspace, prepared as never)
      for (const { types } of streams) expect(await types).toContain(event)
      for (const { close } of streams) await close()
    },
  )

  test('shows a new workspace', async () => {
    let last = 0
    const stop = there.onCommit((workspace) => {
      last = workspace
    })
    const workspace = await here.workspace('named')
    await until(async () => last === workspace)
    stop()
  })
})

describe('the key and the address of a caller', () => {
  const originsOf = (workspace: number) =>
    query(
      `select e.type, e.actor, o.key_id as "keyId", o.address from baton.event_origins o
         join baton.events e using (workspace_id, seq) where workspace_id = $1 order by seq`,
      [workspace],
    )

  test('are stored with the events of its change, and of no other', async () => {
    const workspace = await newWorkspace()
    const known = { keyId: KEY, address: '192.0.2.7' }
    await appendEvents(here, workspace, [
      ['project_created', { actor: 'system' }, { project: 'first' }],
      ['project_created', by, { project: 'second' }],
      ['project_created', { actor: 'agent:alpha', address: '192.0.2.8' }, { project: 'third' }],
      ['project_created', { actor: 'system' }, { project: 'fourth' }],
    ])
    await changeLimits(workspace)
    expect(await originsOf(workspace)).toEqual([
      { type: 'project_created', actor: by.actor, ...known },
      { type: 'project_created', actor: 'agent:alpha', keyId: null, address: '192.0.2.8' },
      { type: 'limits_changed', actor: by.actor, ...known },
    ])
    const second = (await logOf(workspace)).find(({ payload }) => payload.project === 'second')!
    const [origin] = await query('select seq::int from baton.event_origins where workspace_id = $1', [
      workspace,
    ])
    expect(origin).toEqual({ seq: second.seq })
  })

  test('add no row for a batch of tasks', async () => {
    const workspace = await newWorkspace()
    const work = new Work(here, workspace)
    const task = await work.create()
    await work.claim(task, holder('alpha'))
    expect((await logOf(workspace)).length).toBeGreaterThan(1)
    expect(await originsOf(workspace)).toEqual([])
  })
})

test('an event is not committed when its change fails', async () => {
  const workspace = await newWorkspace()
  const before = await logOf(workspace)
  const runId = randomUUID()
  const toNobody = { told: [{ runId, told: { prompt: null, systemPrompt: null } }] } as never
  const broken = appendEvents(here, workspace, [['project_created', by, { project: 'never' }]], toNobody)
  await expect(broken).rejects.toThrow('foreign key')
  expect(await logOf(workspace)).toEqual(before)
})

test('the log has one writer', () => {
  const folder = 'src'
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const written = (how: RegExp) => files.filter((file) => how.test(readFileSync(`${folder}/${file}`, 'utf8')))
  expect(written(/sql\.appendEvents/)).toEqual(['postgres/statements/event-writer.ts'])
  expect(written(/\blog\.commit\(/)).toEqual(['store/batch/transact.ts'])
  expect(written(/insert into events\b/)).toEqual(['postgres/statements/statements.ts'])
})
