import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { listLeaderTerms } from '../../src/postgres/cluster/leader-lease.ts'
import { listNodes } from '../../src/postgres/cluster/nodes.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { freshDatabase } from '../support/database.ts'
import { compiledFile } from '../support/launched.ts'
import { superuser, until } from '../support/nodes.ts'

const LEASE_MS = 2_000
const NODE = compiledFile('test/support/processes/coordinating-node.ts')

let database: Awaited<ReturnType<typeof freshDatabase>>
let store: PostgresStore
let workspace: number
const running: Coordinating[] = []

beforeAll(async () => {
  database = await freshDatabase()
  store = await PostgresStore.open(database.url)
  workspace = (await createWorkspace(store, 'test', 'test')).workspaceId
})
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  await Promise.all(running.map(({ ended }) => ended))
  await store.close()
  await database.drop()
})

interface Coordinating {
  child: ChildProcess
  ended: Promise<unknown>
  lines: string[]
  id(): Promise<string>
  /** Resolves when the process has printed it. */
  says(line: string): Promise<unknown>
}

function startNode(name: string): Coordinating {
  const args = [NODE, database.url, String(workspace), name, String(LEASE_MS)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  const lines: string[] = []
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk
    lines.splice(0, lines.length, ...said.split('\n').slice(0, -1))
  })
  const ended = once(child, 'exit')
  const node: Coordinating = {
    child,
    ended,
    lines,
    id: () => until(async () => lines.find((line) => line.startsWith('node '))?.slice('node '.length)),
    says: (line) => until(async () => lines.includes(line)),
  }
  running.push(node)
  return node
}

/** The writers in the order of the log, which is that of commits: one entry for each stretch. */
const writers = () =>
  superuser(database.url, async (client) => {
    const { rows } = await client.query<{ actor: string }>(
      `select actor from baton.events where workspace_id = $1 and actor like 'term:%' order by seq`,
      [workspace],
    )
    return rows.map(({ actor }) => actor).filter((actor, i, all) => actor !== all[i - 1])
  })

const hasWritten = (term: number) => until(async () => (await writers()).includes(`term:${term}`))
const newestTerm = async () => (await listLeaderTerms(store.control, 1))[0]!

test('a stopped leader is followed by another process when its lease has expired, and refused when it continues', {
  timeout: 120_000,
}, async () => {
  let leader = startNode('one')
  await hasWritten(1)
  let other = startNode('two')
  await other.id()
  for (let term = 1; term <= 2; term++) {
    expect(await newestTerm()).toMatchObject({ term, nodeId: await leader.id(), endedAt: null })
    leader.child.kill('SIGSTOP')
    await other.says(`leads ${term + 1}`)
    await hasWritten(term + 1)
    const [newest, before] = await listLeaderTerms(store.control, 2)
    expect(newest).toMatchObject({ term: term + 1, nodeId: await other.id() })
    expect(before!.endReason).toBe('EXPIRED')
    expect(newest!.takenAt).toBeGreaterThanOrEqual(before!.expiresAt)
    leader.child.kill('SIGCONT')
    await leader.says(`refused ${term} NOT_LEADER`)
    ;[leader, other] = [other, leader]
  }
  expect(await writers(), 'no process writes once another has begun').toEqual(
    [1, 2, 3].map((term) => `term:${term}`),
  )
  const listed = await listNodes(store.control)
  expect(listed.map(({ name, state }) => [name, state]).sort()).toEqual([
    ['one', 'alive'],
    ['two', 'alive'],
  ])
  expect(listed.find(({ leadsTerm }) => leadsTerm !== null)).toMatchObject({
    nodeId: await leader.id(),
    leadsTerm: 3,
    pid: leader.child.pid,
  })

  // One that ends cleanly hands over at once; one that is killed is followed as well.
  leader.child.kill('SIGTERM')
  await other.says('leads 4')
  await leader.ended
  expect((await listLeaderTerms(store.control, 2))[1]).toMatchObject({ term: 3, endReason: 'RESIGNED' })
  const states = (await listNodes(store.control)).map(({ nodeId, state }) => [nodeId, state])
  expect(states).toContainEqual([await leader.id(), 'stopped'])
  other.child.kill('SIGKILL')
  const third = startNode('three')
  await third.says('leads 5')
  expect((await listLeaderTerms(store.control, 2))[1]).toMatchObject({ term: 4, endReason: 'EXPIRED' })
})
