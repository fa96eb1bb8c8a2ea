import { get } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'

/** A mission as a graph, and the list of its tasks. */

const { served, workspace } = useServer()

const launch = async (
  w: Workspace,
  tasks: Json[],
  config: Json = { autonomy: 'full_auto' },
): Promise<Json> => {
  const answer = await w.post('/missions', { goal: 'Go', plan: { tasks }, config })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}
const graphOf = async (w: Workspace, { id }: Json, query = '') =>
  (await w.call('GET', `/missions/${id}/graph${query}`)).body

/** a, then b and c, then d; b waits for a task outside of the mission, too. */
const diamond = (outside: string) => [
  { tempId: 'a', title: 'Look around', agent: 'alpha' },
  { tempId: 'b', title: 'Build one half', dependsOn: ['a', { on: `task:${outside}` }] },
  { tempId: 'c', title: 'Build the other half', dependsOn: ['a'], tags: ['half'] },
  { tempId: 'd', title: 'Join them', dependsOn: ['b', { on: 'c', kind: 'order' }] },
]

/** The graph of rows that lists in one order stand for. */
function fromColumns({ nodes, edges, outside, seq }: Json) {
  const columns = nodes as Record<string, unknown[]>
  const ids = [...(columns.id as string[]), ...(outside as string[])]
  const { from, to, kind } = edges as Record<string, number[]>
  return {
    nodes: columns.id!.map((_, i) =>
      Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[i]])),
    ),
    edges: from!.map((place, i) => ({ from: ids[place], to: ids[to![i]!], kind: kind![i] })),
    seq,
  }
}

describe('the graph of a mission', () => {
  test('has every task with its state, layer and holder, and is the same in columns', async () => {
    const w = await workspace()
    const outside = await w.make()
    const mission = await launch(w, diamond(outside.id))
    const [claim] = (await w.next({ waitMs: 5_000, agent: 'alpha' })).claims
    const graph = await graphOf(w, mission)
    expect(graph.nodes).toMatchObject([
      {
        ...{ number: 1, title: 'Look around', layer: 0, purpose: 'work', agent: 'alpha', costUsd: null },
        ...(claim.task.title === 'Look around' ? { state: 'assigned', attempt: 1 } : {}),
      },
      { number: 2, layer: 1, state: 'pending', agent: null, attempt: 0 },
      { number: 3, layer: 1, state: 'pending' },
      { number: 4, layer: 2, state: 'pending' },
    ])
    const [a, b, c, d] = graph.nodes.map(({ id }: Json) => id)
    expect(new Set(graph.edges)).toEqual(
      new Set([
        { from: a, to: b, kind: 'data' },
        { from: outside.id, to: b, kind: expect.any(String) },
        { from: a, to: c, kind: 'data' },
        { from: b, to: d, kind: 'data' },
        { from: c, to: d, kind: 'order' },
      ]),
    )
    const columns = await graphOf(w, mission, '?format=columns')
    expect(columns.outside).toEqual([outside.id])
    expect(fromColumns(columns)).toEqual(graph)
  })

  test('is as of one event: what the log has after it makes it what it is later', async () => {
    const w = await workspace()
    const mission = await launch(
      w,
      Array.from({ length: 40 }, (_, i) => ({ tempId: `t${i}`, title: `T ${i}` })),
    )
    const seen: Json[] = []
    let isDone = false
    const reading = (async () => {
      while (!isDone) seen.push(await graphOf(w, mission))
    })()
    await Promise.all(
      Array.from({ length: 4 }, async (_, i) => {
        const [agent, session] = [`a${i}`, `s${i}`]
        for (;;) {
          const [claim] = (await w.next({ agent, session })).claims
          if (!claim) return
          await w.post(`/tasks/${claim.taskId}/submit`, { ...fence(session, claim.generation), result: 1 })
        }
      }),
    )
    isDone = true
    await reading
    const log = (await w.call('GET', `/missions/${mission.id}/events?limit=200`)).body.items as Json[]
    expect(seen.length).toBeGreaterThan(2)
    for (const { nodes, seq } of seen) {
      const states = new Map<unknown, unknown>()
      for (const event of log)
        if (event.taskId && event.to && (event.seq as number) <= (seq as number))
          states.set(event.taskId, event.to)
      expect((nodes as Json[]).map(({ id, state }) => [id, state])).toEqual(
        (nodes as Json[]).map(({ id }) => [id, states.get(id)]),
      )
    }
  })

  test('is that of the plan before it is approved, in columns as well', async () => {
    const w = await workspace()
    const outside = await w.make()
    const mission = await launch(w, diamond(outside.id), {})
    const columns = await graphOf(w, mission, '?format=columns')
    expect(columns.nodes).toMatchObject({
      id: ['a', 'b', 'c', 'd'],
      layer: [0, 1, 1, 2],
      state: [null, null, null, null],
    })
    expect(fromColumns(columns)).toEqual(await graphOf(w, mission))
    expectRefusal(await w.call('GET', `/missions/${mission.id}/graph?format=xml`), 400, 'VALIDATION_FAILED')
  })

  test('of many tasks is sent compressed to those who take it, and plain to others', async () => {
    const w = await workspace()
    const mission = await launch(
      w,
      Array.from({ length: 300 }, (_, i) => ({ tempId: `t${i}`, title: `Task ${i}` })),
    )
    const fetched = (encoding: string) =>
      new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
        const headers = { authorization: `Bearer ${w.ownerKey}`, 'accept-encoding': encoding }
        const path = `${served().api}/missions/${mission.id}/graph?format=columns`
        get(path, { headers, agent: false }, async (answer) => {
          const parts: Buffer[] = []
          for await (const part of answer) parts.push(part)
          resolve({ encoding: answer.headers['content-encoding'], body: Buffer.concat(parts) })
        }).on('error', reject)
      })
    const plain = await fetched('identity')
    expect(plain.encoding).toBe(undefined)
    for (const refused of ['gzip;q=0', 'br', ''])
      expect((await fetched(refused)).encoding, refused).toBe(undefined)
    for (const taken of ['gzip', 'br, gzip;q=0.5', '*', 'deflate,gzip']) {
      const packed = await fetched(taken)
      expect(packed.encoding, taken).toBe('gzip')
      expect(gunzipSync(packed.body)).toEqual(plain.body)
      expect(packed.body.length).toBeLessThan(plain.body.length / 2)
    }
  })
})

test('the tasks of a mission are listed by state, agent, tag and text, page by page', async () => {
  const w = await workspace()
  const mission = await launch(w, diamond((await w.make()).id))
  const titles = async (query: string) =>
    (await w.call('GET', `/missions/${mission.id}/tasks${query}`)).body.items.map(({ title }: Json) => title)
  expect(await titles('')).toEqual(['Join them', 'Build the other half', 'Build one half', 'Look around'])
  expect(await titles('?state=queued')).toEqual(['Look around'])
  expect(await titles('?stateType=pending&q=half')).toEqual(['Build the other half', 'Build one half'])
  expect(await titles('?state=completed,failed')).toEqual([])
  expect(await titles('?tag=half')).toEqual(['Build the other half'])
  expect(await titles('?purpose=planning')).toEqual([])
  const page = (await w.call('GET', `/missions/${mission.id}/tasks?limit=3&stateType=pending`)).body
  expect(page.items).toHaveLength(3)
  expect(await titles(`?limit=3&stateType=pending&cursor=${page.nextCursor}`)).toEqual(['Look around'])
  expectRefusal(await w.call('GET', `/missions/${mission.id}/tasks?state=lost`), 400, 'VALIDATION_FAILED')
})
