import { describe, expect, test } from 'vitest'
import { cutText, edgePath, fitting, MOST_EDGES, sizeOf } from '../src/graphs/geometry.ts'
import { type LaidEdge, layOut } from '../src/graphs/layers.ts'
import { around, longestChain, towards } from '../src/graphs/paths.ts'
import { criticalPath, edgeGroups, firstOf, found } from '../src/pages/mission/graph/marked.ts'
import { graphFrom, movedIn, type TaskGraph, type TaskNode } from '../src/pages/mission/task-rows.ts'

/** Where the tasks of a mission are drawn, and what is between them. */

const planned = (...ids: string[]) => ids.map((id) => ({ id, isAdded: false }))
const added = (...ids: string[]) => ids.map((id) => ({ id, isAdded: true }))
/** "a>b" */
const edges = (...all: string[]): LaidEdge[] =>
  all.map((one) => ({ from: one.split('>')[0]!, to: one.split('>')[1]! }))
const at = (layout: ReturnType<typeof layOut>, id: string) => {
  const { column, row } = layout.places.get(id)!
  return [column, row]
}

describe('the layout of a graph', () => {
  test('puts each task to the right of all it waits for, by the longest way', () => {
    const layout = layOut(planned('a', 'b', 'c', 'd'), edges('a>b', 'b>c', 'a>c', 'c>d', 'a>d'))
    expect(['a', 'b', 'c', 'd'].map((id) => at(layout, id)[0])).toEqual([0, 1, 2, 3])
  })

  test('orders a layer by its neighbours, so that edges do not cross', () => {
    const layout = layOut(planned('a', 'b', 'x', 'y'), edges('a>y', 'b>x'))
    expect(at(layout, 'y')[1]).toBeLessThan(at(layout, 'x')[1]!)
  })

  test('has no task twice in one place, for any number of tasks', () => {
    for (const count of [0, 1, 2, 41, 400]) {
      const ids = Array.from({ length: count }, (_, n) => `t${n}`)
      const layout = layOut(
        planned(...ids),
        ids.slice(1).map((to, n) => ({ from: ids[Math.floor(n / 3)]!, to })),
      )
      expect(new Set([...layout.places.values()].map(({ column, row }) => `${column} ${row}`)).size).toBe(
        count,
      )
    }
  })

  test('of four hundred tasks that one waits for has many columns before it, and no endless one', () => {
    const ids = Array.from({ length: 399 }, (_, n) => `t${n}`)
    const layout = layOut(
      planned(...ids, 'join'),
      ids.map((from) => ({ from, to: 'join' })),
    )
    expect(layout.rows).toBeLessThanOrEqual(40)
    expect(at(layout, 'join')[0]).toBe(layout.columns - 1)
  })

  test('keeps every place when tasks are added: they take the free ones of their layer', () => {
    const plan = planned('a', 'b', 'c', 'd')
    const between = edges('a>c', 'b>c', 'c>d')
    const before = layOut(plan, between)
    const after = layOut(
      [...plan, ...added('x', 'y', 'z')],
      [...between, ...edges('a>x', 'x>c', 'd>y', 'y>z')],
    )
    for (const { id } of plan) expect(at(after, id)).toEqual(at(before, id))
    expect(at(after, 'x')[0]).toBe(1)
    expect([at(after, 'y')[0], at(after, 'z')[0]]).toEqual([3, 4])
  })

  test('ends for a cycle, and for edges that lead nowhere', () => {
    const layout = layOut(planned('a', 'b'), edges('a>b', 'b>a', 'a>a', 'gone>b'))
    expect(layout.places.size).toBe(2)
  })
})

describe('ways through a graph', () => {
  test('the longest chain is found, and one task is none', () => {
    expect(longestChain(['a', 'b', 'c', 'd'], edges('a>b', 'b>c', 'a>d'))).toEqual(['a', 'b', 'c'])
    expect(longestChain(['a'], [])).toEqual([])
  })

  test('a task has the neighbours of two steps, and of many the most important ones', () => {
    const line = edges('a>b', 'b>c', 'c>d', 'd>e', 'e>f')
    expect(around('c', line, () => 0).ids.sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
    const star = Array.from({ length: 300 }, (_, n) => ({ from: 'm', to: `n${n}` }))
    const { ids, more } = around('m', star, (id) => (id === 'n299' ? 0 : 1), { most: 100 })
    expect([ids.length, more, ids[0], ids[1]]).toEqual([100, 201, 'm', 'n299'])
  })

  test('arrows lead along edges to the nearest, and up and down within the column', () => {
    const between = edges('a>c', 'b>c', 'b>d')
    const { places } = layOut(planned('a', 'b', 'c', 'd'), between)
    expect(towards('a', 'right', places, between)).toBe('c')
    expect(towards('a', 'down', places, between)).toBe('b')
    expect(towards('b', 'up', places, between)).toBe('a')
    expect(towards('d', 'left', places, between)).toBe('b')
    expect(towards('a', 'left', places, between)).toBeNull()
    expect(towards('gone', 'up', places, between)).toBeNull()
  })
})

const node = (id: string, state: TaskNode['state'], more: Partial<TaskNode> = {}): TaskNode => ({
  ...{ id, state, number: 1, title: `Do ${id}`, layer: 0, purpose: 'work', agent: null, attempt: 0 },
  ...{ costUsd: null, isSimulated: false, ...more },
})
const graph = (nodes: TaskNode[], ...all: string[]): TaskGraph => ({
  nodes,
  edges: edges(...all).map((edge) => ({ ...edge, kind: edge.from === 'o' ? 'order' : 'data' })),
})

describe('a graph of tasks', () => {
  test('is the same from rows and from columns, without verifications', () => {
    const nodes = [node('a', 'completed'), node('v', 'running', { purpose: 'verification' }), node('b', null)]
    const rows = { nodes, edges: [{ from: 'a', to: 'b', kind: 'data' as const }], seq: 1 }
    const of = <K extends keyof TaskNode>(field: K) => nodes.map((one) => one[field])
    const columns = {
      nodes: {
        ...{ id: of('id'), number: of('number'), title: of('title'), state: of('state'), layer: of('layer') },
        ...{ purpose: of('purpose'), agent: of('agent'), attempt: of('attempt'), costUsd: of('costUsd') },
        isSimulated: of('isSimulated'),
      },
      // The second edge comes from a task of another mission.
      edges: { from: [0, 3], to: [2, 2], kind: ['data' as const, 'order' as const] },
      outside: ['elsewhere'],
      seq: 1,
    }
    expect(graphFrom(columns)).toEqual(graphFrom(rows))
    expect(graphFrom(columns).nodes.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  test('changes one node when its task moves, and nothing else', () => {
    const before = graph([node('a', 'queued'), node('b', 'pending')], 'a>b')
    const moved = movedIn(before, { taskId: 'a', to: 'running' } as never)
    expect(moved.nodes[0]!.state).toBe('running')
    expect(moved.nodes[1]).toBe(before.nodes[1])
    expect(moved.edges).toBe(before.edges)
    expect(movedIn(moved, { taskId: 'a', to: 'running' } as never)).toBe(moved)
    expect(movedIn(moved, { taskId: 'z', to: 'running' } as never)).toBe(moved)
  })

  test('tells what is left apart from what is done: edges that are met are faint, the longest chain left is bold', () => {
    const of = graph(
      [
        node('a', 'completed'),
        node('b', 'running'),
        node('c', 'pending'),
        node('d', 'pending'),
        node('o', 'queued'),
      ],
      ...['a>b', 'b>c', 'c>d', 'a>d', 'o>d'],
    )
    const path = criticalPath(of)
    expect(path).toEqual(['b', 'c', 'd'])
    const { metData, critical, order, data, own } = edgeGroups(of, path, 'o')
    expect(metData).toHaveLength(2)
    expect(critical).toHaveLength(2)
    expect(order).toEqual(own)
    expect(data).toEqual([])
    expect(criticalPath(graph([node('a', 'failed'), node('b', 'skipped')], 'a>b'))).toEqual([])
  })

  test('with too many edges draws those of the chosen task, and says how many it leaves out', () => {
    const nodes = Array.from({ length: 100 }, (_, n) => node(`t${n}`, 'pending'))
    const all = nodes.flatMap(({ id: from }, n) => nodes.slice(n + 1).map(({ id: to }) => `${from}>${to}`))
    expect(all.length).toBeGreaterThan(MOST_EDGES)
    const groups = edgeGroups(graph(nodes, ...all), [], 't0')
    expect([groups.data.length, groups.own.length, groups.left]).toEqual([0, 99, all.length])
  })

  test('begins at what failed, and finds tasks by number and by words', () => {
    const nodes = [
      node('a', 'completed'),
      node('b', 'failed', { title: 'Write the Docs' }),
      node('c', 'running'),
    ]
    expect(firstOf(nodes)).toBe('b')
    expect(firstOf([])).toBeNull()
    const nameOf = (id: string) => `#${id.codePointAt(0)}`
    expect(found(nodes, 'docs', nameOf).map(({ id }) => id)).toEqual(['b'])
    expect(found(nodes, '99', nameOf).map(({ id }) => id)).toEqual(['c'])
    expect(found(nodes, ' ', nameOf)).toEqual([])
  })
})

test('a title of ten thousand characters is cut to its node, in one line', () => {
  expect(cutText('a\n  b', 34)).toBe('a b')
  expect([...cutText('x'.repeat(10_000), 34)]).toHaveLength(34)
  expect(cutText('x'.repeat(33) + '😀'.repeat(9), 34).isWellFormed()).toBe(true)
})

test('a graph fits its room, small ones are not enlarged, and one without nodes has a size', () => {
  const { places, columns, rows } = layOut(planned('a', 'b'), edges('a>b'))
  const size = sizeOf({ places, columns, rows })
  expect(fitting(size, { width: 10_000, height: 10_000 })).toBe(1)
  expect(fitting({ width: 4_000, height: 100 }, { width: 1_000, height: 1_000 })).toBe(0.25)
  expect(sizeOf(layOut([], [])).width).toBeGreaterThan(0)
  expect(edgePath(edges('a>b', 'a>gone'), places).match(/M/g)).toHaveLength(1)
})
