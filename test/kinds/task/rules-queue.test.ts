import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Combiner } from '../../../src/kernel/combiner.ts'
import { PRIORITY_STEP_MS } from '../../../src/kinds/task/rules/retry.ts'
import { ProjectFairness } from '../../../src/pure/fairness.ts'
import { manualClock } from '../../support/manual-clock.ts'
import type { Reply } from '../../support/replies.ts'
import { grantedTasks, holder, newTask, type Overrides, outcome, type Work } from '../../support/tasks.ts'

const alpha = holder('alpha')
const A = 1
const B = 2

const many = (count: number, overrides: Overrides = {}) =>
  Array.from({ length: count }, () => newTask(overrides))
const titles = (work: Work, reply: Reply) =>
  Promise.all(grantedTasks(reply).map(async (task) => (await work.details(task)).title))

/** The projects of the next tasks, each requested separately. */
async function projects(work: Work, count: number): Promise<number[]> {
  const given: number[] = []
  for (let i = 0; i < count; i++)
    given.push(...grantedTasks(await work.next(alpha)).map(({ projectId }) => projectId))
  return given
}

describe('fairness between projects', () => {
  const roomy = { maxConcurrentClaims: 10_000 }

  test('a flood of one project does not starve another: ten tasks are assigned within the first twenty', async () => {
    const { work } = manualClock(roomy)
    await work.createAll(many(1_000, { projectId: A }))
    await work.createAll(many(10, { projectId: B }))
    const first = await projects(work, 20)
    expect(first.filter((project) => project === B)).toHaveLength(10)
    expect(await projects(work, 5), 'and what is left is the flood’s').toEqual([A, A, A, A, A])
  })

  test('holds within one request, whatever the priority of the flood', async () => {
    const { work } = manualClock(roomy)
    await work.createAll(many(1_000, { projectId: A, priority: 10 }))
    await work.createAll(many(10, { projectId: B, priority: 1 }))
    const given = grantedTasks(await work.next(alpha, { limit: 20 })).map(({ projectId }) => projectId)
    expect(given.filter((project) => project === B)).toHaveLength(10)
  })

  test('requests for one project only do not count against the others', async () => {
    const { work } = manualClock(roomy)
    await work.createAll([...many(40, { projectId: A }), ...many(40, { projectId: B })])
    for (let i = 0; i < 20; i++) await work.next(alpha, { projectId: A })
    expect(await projects(work, 6)).toEqual([B, A, B, A, B, A])
  })

  test('a project that comes back has no saved-up share', async () => {
    const { work } = manualClock(roomy)
    await work.createAll([...many(100, { projectId: A }), newTask({ projectId: B })])
    await projects(work, 60)
    await work.createAll(many(20, { projectId: B }))
    const after = await projects(work, 10)
    expect(after.filter((project) => project === B)).toHaveLength(5)
  })

  test('at equal shares the queue order decides: priority, then arrival', async () => {
    const { work } = manualClock(roomy)
    await work.createAll([
      newTask({ projectId: 1, priority: 3 }),
      newTask({ projectId: 2, priority: 9 }),
      newTask({ projectId: 3, priority: 5 }),
      newTask({ projectId: 4, priority: 5 }),
    ])
    expect(await projects(work, 4)).toEqual([2, 3, 4, 1])
  })

  test('tasks in no project count as one project', async () => {
    const { work } = manualClock(roomy)
    await work.createAll([...many(10), ...many(10, { projectId: A })])
    const first = await projects(work, 10)
    expect(first.filter((project) => project === 0)).toHaveLength(5)
  })

  test('a refused task does not count for its project', async () => {
    const { work } = manualClock(roomy)
    await work.store.setTrack(1, A, 'A', 1)
    await work.createAll([
      newTask({ projectId: A, key: 'A-001-x' }),
      newTask({ projectId: A, key: 'A-002-x' }),
      newTask({ projectId: A, key: 'B-001-x' }),
      ...many(4, { projectId: B }),
    ])
    await work.next(holder('beta'))
    // The track is full for alpha; the project’s other track is still offered in order.
    const given = grantedTasks(await work.next(alpha, { limit: 3 }))
    expect(given.map(({ projectId, trackQueue }) => [projectId, trackQueue])).toEqual([
      [B, ''],
      [A, 'B'],
      [B, ''],
    ])
  })

  test('the counts of two projects that wait all the time differ by two at most', () => {
    const round = fc.uniqueArray(fc.nat({ max: 4 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(fc.array(round, { minLength: 1, maxLength: 60 }), (rounds) => {
        const fairness = new ProjectFairness()
        const served = rounds.map((waiting) => {
          const next = waiting.reduce((best, one) => (fairness.of(one) < fairness.of(best) ? one : best))
          fairness.served(next)
          return next
        })
        for (let from = 0; from < rounds.length; from++)
          for (const a of rounds[from]!)
            for (const b of rounds[from]!) {
              let lead = 0
              for (let i = from; i < rounds.length && rounds[i]!.includes(a) && rounds[i]!.includes(b); i++) {
                lead += Number(served[i] === a) - Number(served[i] === b)
                // Behind by one when both began to wait, and ahead by one in the end.
                expect(Math.abs(lead)).toBeLessThanOrEqual(2)
              }
            }
      }),
    )
  })
})

describe('inside a project', () => {
  test('the order is priority, then arrival, over all of its tracks', async () => {
    const { work } = manualClock()
    const task = (title: string, priority: number, key: string | null = null) =>
      newTask({ projectId: A, title, priority, key })
    await work.createAll([
      task('third', 5),
      task('fourth', 5, 'A-001-x'),
      task('first', 7, 'B-001-x'),
      task('fifth', 5, 'A-002-x'),
      task('second', 6, 'A-003-x::1'),
    ])
    expect(await titles(work, await work.next(alpha, { limit: 5 }))).toEqual([
      'first',
      'second',
      'third',
      'fourth',
      'fifth',
    ])
  })

  test('a step of priority is worth ten minutes of waiting', async () => {
    const { work, pass } = manualClock()
    await work.create({ projectId: A, title: 'old', priority: 5 })
    pass(PRIORITY_STEP_MS + 1)
    await work.create({ projectId: A, title: 'new and more urgent', priority: 6 })
    await work.create({ projectId: A, title: 'new and much more urgent', priority: 7 })
    expect(await titles(work, await work.next(alpha, { limit: 3 }))).toEqual([
      'new and much more urgent',
      'old',
      'new and more urgent',
    ])
  })

  test('reserved tasks are queued with unreserved ones', async () => {
    const { work } = manualClock()
    await work.createAll([
      newTask({ projectId: A, title: 'anybody’s' }),
      newTask({ projectId: A, title: 'alpha’s', onlyAgent: 'alpha' }),
      newTask({ projectId: A, title: 'beta’s', onlyAgent: 'beta', priority: 9 }),
      newTask({ projectId: A, title: 'anybody’s too' }),
    ])
    const expected = ['anybody’s', 'alpha’s', 'anybody’s too']
    expect(await titles(work, await work.next(alpha, { limit: 4 }))).toEqual(expected)
  })

  test('a reserved task that the agent cannot do does not hide one it can do', async () => {
    const { work } = manualClock()
    await work.createAll([
      newTask({ title: 'needs sql', onlyAgent: 'alpha', capabilities: ['sql'], priority: 9 }),
      newTask({ title: 'needs nothing', onlyAgent: 'alpha' }),
    ])
    // In one batch with an agent of the same name that can: then both tasks are candidates.
    const [able, plain] = await Promise.all([
      work.next(holder('alpha', 's-2'), { capabilities: ['sql'], limit: 0 }),
      work.next(alpha),
    ])
    expect(outcome(able)).toBe('NO_WORK')
    expect(await titles(work, plain)).toEqual(['needs nothing'])
  })
})

describe('a request for a project or tracks', () => {
  const keyed = (key: string | null, projectId: number) =>
    newTask({ title: `${projectId} ${key}`, key, projectId })
  const some = async () => {
    const { work } = manualClock()
    await work.createAll([
      keyed('A-001-x', A),
      keyed('A-002-x::1', A),
      keyed('B-001-x', A),
      keyed('A-001-x', B),
      keyed(null, A),
      keyed(null, 0),
    ])
    return work
  }

  test.each([
    ['one project', { projectId: A }, ['1 A-001-x', '1 A-002-x::1', '1 B-001-x', '1 null']],
    ['no project', { projectId: 0 }, ['0 null']],
    ['a project that has nothing', { projectId: 7 }, []],
    [
      'a track of all projects, parts of its tasks included',
      { tracks: ['A'] },
      ['1 A-001-x', '1 A-002-x::1', '2 A-001-x'],
    ],
    ['a track of one project', { tracks: ['A'], projectId: B }, ['2 A-001-x']],
    ['several tracks', { tracks: ['A', 'B'], projectId: A }, ['1 A-001-x', '1 A-002-x::1', '1 B-001-x']],
  ])('returns %s and nothing else', async (_what, where, expected) => {
    const work = await some()
    expect((await titles(work, await work.next(alpha, { limit: 9, ...where }))).toSorted()).toEqual(expected)
  })

  test('also applies to tasks reserved for the agent', async () => {
    const { work } = manualClock()
    await work.createAll([
      newTask({ title: 'A', key: 'A-001-x', projectId: A, onlyAgent: 'alpha' }),
      newTask({ title: 'A part', key: 'A-002-x::1', projectId: A, onlyAgent: 'alpha' }),
      newTask({ title: 'B', key: 'B-001-x', projectId: A, onlyAgent: 'alpha' }),
      newTask({ title: 'other', key: 'A-001-x', projectId: B, onlyAgent: 'alpha' }),
    ])
    const where = { projectId: A, tracks: ['A'] }
    expect(await titles(work, await work.next(alpha, { limit: 9, ...where }))).toEqual(['A', 'A part'])
  })

  test('is answered for each caller of a batch by its own filter', async () => {
    const work = await some()
    const replies = await Promise.all([
      work.next(alpha, { limit: 9, projectId: B }),
      work.next(alpha, { limit: 9, tracks: ['B'] }),
      work.next(alpha, { limit: 9, projectId: 0 }),
      work.next(alpha, { limit: 9, tracks: ['B'] }),
    ])
    expect(await Promise.all(replies.map((reply) => titles(work, reply)))).toEqual([
      ['2 A-001-x'],
      ['1 B-001-x'],
      ['0 null'],
      [],
    ])
  })
})

describe('the fairness state', () => {
  test('outlives a batch, and belongs to one process', async () => {
    const { work } = manualClock()
    await work.createAll([...many(4, { projectId: A }), ...many(4, { projectId: B })])
    expect(await projects(work, 1)).toEqual([A])
    expect(await projects(work, 1)).toEqual([B])
    expect(await projects(work, 1)).toEqual([A])
    expect(await projects(work.through(new Combiner(work.store)), 1), 'a process that just began').toEqual([
      A,
    ])
  })
})
