import { describe, expect, test } from 'vitest'
import { Problem } from '../../src/client/client.ts'
import { readPlan } from '../../src/kinds/mission/plan/read.ts'
import { bodyOf, placeWords, withAdded } from '../src/things/mission/plan-edit/added-task.ts'
import { type Agent, notesOf } from '../src/things/mission/plan-edit/agent-notes.ts'
import {
  dependentsOf,
  offeredTo,
  renamed,
  withCopy,
  withNewTask,
  withoutTask,
  withTask,
  withTaskAt,
} from '../src/things/mission/plan-edit/plan-changes.ts'
import {
  backToOutline,
  changed,
  draftFrom,
  draftFromText,
  draftKept,
  settled,
  typed,
} from '../src/things/mission/plan-edit/plan-draft.ts'
import { timeWords, upstreamPlaces } from '../src/things/mission/plan-edit/plan-figures.ts'
import {
  byTask,
  ofPlan,
  problemsIn,
  saidAt,
  saidIn,
  saidOfRest,
} from '../src/things/mission/plan-edit/plan-problems.ts'
import { readText, rewritten, taskLines, writeText } from '../src/things/mission/plan-edit/plan-text.ts'
import {
  edgesOf,
  idOf,
  type Json,
  jsonFrom,
  jsonText,
  numberFrom,
  tasksIn,
  textIn,
  withEdges,
  withinValue,
  withPlanValue,
  withValue,
} from '../src/things/mission/plan-edit/plan-value.ts'
import { afterWords, factsOf } from '../src/things/mission/plan-edit/row-facts.ts'
import { stepsOf } from '../src/things/mission/plan-steps.ts'

/** The editor of plans without a page: one draft as an outline and as text. */

const TEXT = `# Billing, in two steps
tasks:
  # first of all
  - id: map # the map
    title: List all callers
  - tempId: move
    depends_on: [ map ]
    verification: { kind: human }
    description: |
      One line,
      and another.
`

const planIn = (text: string): Json => {
  const read = readText(text)
  if ('fault' in read) throw new Error(read.fault.words)
  return read.plan
}
const idsOf = (plan: Json) => tasksIn(plan).map(idOf)
const waits = (plan: Json) =>
  Object.fromEntries(tasksIn(plan).map((task) => [idOf(task), edgesOf(task).map(({ on }) => on)]))
const chain = (length: number): Json => ({
  tasks: Array.from({ length }, (_, place) => ({
    tempId: `t${place}`,
    title: `Task ${place}`,
    ...(place === 0 ? {} : { dependsOn: [`t${place - 1}`] }),
  })),
})

describe('a plan as text', () => {
  test('keeps comments, order and spelling of what the outline does not change', () => {
    const plan = withTask(planIn(TEXT), 1, (task) =>
      withValue(withEdges(task, [{ on: 'map', kind: 'order' }]), 'agent', 'dev-1'),
    )
    const edges = TEXT.replace('depends_on: [ map ]', 'depends_on:\n      - { on: map, kind: order }')
    expect(rewritten(TEXT, plan)).toBe(`${edges}    agent: dev-1\n`)
  })

  test('is the same text if nothing was changed', () => {
    expect(rewritten(TEXT, planIn(TEXT))).toBe(TEXT)
    expect(planIn(writeText(chain(3)))).toEqual(chain(3))
    expect(writeText({ tasks: [] })).toBe('tasks: []\n')
  })

  test('has tasks in the order of the outline, each with its own comments', () => {
    const text = rewritten(TEXT, withTaskAt(planIn(TEXT), 0, 1))
    expect(planIn(text)).toEqual(withTaskAt(planIn(TEXT), 0, 1))
    expect(text).toMatch(/- tempId: move[\s\S]*- id: map # the map/)
  })

  test('has its title and its strategy above its tasks', () => {
    const titled = withPlanValue(withPlanValue(planIn(TEXT), 'strategy', 'Map first.'), 'title', 'Billing')
    const text = rewritten(TEXT, titled)
    // What was said of the tasks stays at them.
    expect(text).toBe(`title: Billing\nstrategy: Map first.\n${TEXT}`)
    expect(planIn(text)).toEqual(titled)
    // In its place, once it is there; and gone without a trace.
    expect(rewritten(text, withPlanValue(titled, 'title', 'All billing'))).toBe(
      text.replace('Billing\n', 'All billing\n'),
    )
    expect(rewritten(text, withPlanValue(withPlanValue(titled, 'title', ''), 'strategy', ''))).toBe(TEXT)
  })

  test('stays JSON if it was written as JSON', () => {
    const text = rewritten('{"tasks": []}', chain(1))
    expect(JSON.parse(text)).toEqual(chain(1))
  })

  test('is what the server reads', () => {
    const plan = {
      tasks: [{ tempId: 'a', title: 'yes', description: '- no: "list"\n', tags: ['1.0', 'on'] }],
    }
    const read = readPlan(writeText(plan), 'mission')
    expect(read).toMatchObject({ ok: true, plan })
  })

  test('says the line from which it cannot be read', () => {
    expect(readText('tasks:\n  - tempId: a\n    title: "open\n')).toMatchObject({ fault: { line: 4 } })
    expect(readText('tasks: 4')).toEqual({ fault: { line: 1, words: 'The tasks must be a list.' } })
    expect(readText('tasks:\n  - tempId: a\n  - b\n')).toMatchObject({ fault: { line: 3 } })
    expect(readText('tasks: []\ntasks: []')).toMatchObject({ fault: { line: 2 } })
    expect(readText('')).toEqual({ plan: { tasks: [] } })
  })

  test('knows where its tasks begin', () => {
    expect(taskLines(TEXT)).toEqual([4, 6])
  })
})

describe('a draft', () => {
  test('is edited in the outline, and its text follows', () => {
    const draft = changed(draftFromText(TEXT), (plan) =>
      withTask(plan, 0, (task) => withValue(task, 'title', 'Find')),
    )
    expect(draft.text).toBe(TEXT)
    expect(settled(draft)).toMatchObject({ ahead: null, text: TEXT.replace('List all callers', 'Find') })
  })

  test('is edited as text, and its outline follows', () => {
    const draft = settled(typed(draftFromText(TEXT), TEXT.replace('List all callers', 'Find')))
    expect(textIn(tasksIn(draft.plan)[0]!, 'title')).toBe('Find')
  })

  test('keeps the outline at the last readable text, and takes no edit there until it can be read again', () => {
    const before = draftFromText(TEXT)
    const broken = settled(typed(before, `${TEXT}  - [`))
    expect(broken).toMatchObject({ plan: before.plan, fault: { line: 12 } })
    expect(changed(broken, () => ({ tasks: [] }))).toBe(broken)
    const mended = settled(typed(broken, TEXT))
    expect(mended).toMatchObject({ plan: before.plan, fault: null })
    expect(backToOutline(broken)).toMatchObject({ plan: before.plan, fault: null })
  })

  test('takes what was typed before it takes what is edited in the outline', () => {
    const draft = changed(typed(draftFromText(TEXT), TEXT.replace('map # the map', 'map2')), (plan) =>
      withTask(plan, 1, (task) => withValue(task, 'agent', 'dev-1')),
    )
    expect(tasksIn(draft.plan)).toMatchObject([{ id: 'map2' }, { agent: 'dev-1' }])
  })

  test('is the same after it was kept, whichever side was ahead', () => {
    for (const draft of [
      changed(draftFrom(chain(2)), (plan) => withoutTask(plan, 0)),
      settled(typed(draftFrom(chain(2)), 'tasks: [')),
    ]) {
      const { plan, text, ahead } = draft
      expect(draftKept({ version: 1, plan, text, ahead })).toEqual(settled(draft))
    }
  })
})

describe('tasks of the outline', () => {
  test('are added, copied and moved with ids of their own', () => {
    const added = withNewTask(chain(2), 0)
    expect([added.at, idsOf(added.plan)]).toEqual([1, ['t0', 'task-3', 't1']])
    expect(idsOf(withNewTask(added.plan, null).plan)).toEqual(['t0', 'task-3', 't1', 'task-4'])
    const copied = withCopy(chain(2), 1)
    expect(waits(copied.plan)).toEqual({ t0: [], t1: ['t0'], 't1-2': ['t0'] })
    expect(idsOf(withTaskAt(chain(3), 2, 0))).toEqual(['t2', 't0', 't1'])
  })

  test('are removed with what waited for them named, and no longer waiting', () => {
    expect(dependentsOf(chain(3), 0)).toEqual(['Task 1'])
    expect(waits(withoutTask(chain(3), 0))).toEqual({ t1: [], t2: ['t1'] })
    const plan = chain(3)
    expect(tasksIn(withoutTask(plan, 0))[1]).toBe(tasksIn(plan)[2])
  })

  test('are renamed also where others wait for them, but never into another task', () => {
    expect(waits(renamed(chain(2), 0, 'first'))).toEqual({ first: [], t1: ['first'] })
    expect(waits(renamed(chain(3), 0, 't2'))).toMatchObject({ t1: ['t0'] })
  })

  test('are offered nothing to wait for that would close a cycle', () => {
    const { tasks } = chain(4) as { tasks: Json[] }
    expect(offeredTo(tasks, 1)).toEqual([])
    expect(offeredTo(tasks, 3)).toEqual([0, 1])
    const longer = [...tasks, { tempId: 'alone' }]
    expect(offeredTo(longer, 0)).toEqual([4])
    expect(
      offeredTo(
        [
          { tempId: 'a', depends_on: ['b'] },
          { id: 'b', depends_on: ['a'] },
        ],
        0,
      ),
    ).toEqual([])
  })

  test('that were not edited stay the same values', () => {
    const plan = chain(500)
    const after = withTask(plan, 7, (task) => withValue(task, 'title', 'x'))
    expect(tasksIn(after).filter((task, place) => task !== tasksIn(plan)[place])).toHaveLength(1)
  })

  test('have what is typed as the plan writes it, and lose what became empty', () => {
    expect(numberFrom('12')).toBe(12)
    expect(numberFrom('much')).toBe('much')
    const priced = withinValue(
      { tempId: 'a', budget: { limitUsd: '1', maxTokens: 9 } },
      'budget',
      'maxUsd',
      '2.50',
    )
    expect(priced).toEqual({ tempId: 'a', budget: { limitUsd: '2.50', maxTokens: 9 } })
    expect(withinValue({ budget: { maxUsd: '2' } }, 'budget', 'maxUsd', '')).toEqual({})
    expect(withValue({ type: 'coding' }, 'taskType', 'review')).toEqual({ type: 'review' })
  })

  test('say who does them, after which, and who reviews them', () => {
    const plan = planIn(TEXT)
    const upstream = upstreamPlaces(tasksIn(plan))
    expect(factsOf(tasksIn(plan)[1]!)).toMatchObject({
      name: 'One line,',
      who: 'any agent',
      review: 'a person',
    })
    expect(afterWords(tasksIn(plan)[1]!, upstream[1]!)).toBe('after 1')
    expect(factsOf({ tempId: 'a', title: 'x'.repeat(10_000) }).name).toHaveLength(200)
    const join = { dependsOn: Array.from({ length: 400 }, (_, place) => `t${place}`) }
    expect(
      afterWords(
        join,
        Array.from({ length: 400 }, (_, place) => place),
      ),
    ).toBe('after 1, 2, 3, 4, 5, 6 and 394 more')
  })
})

describe('figures of a plan', () => {
  test('have the longest way in time, as far as it is known', () => {
    const tasks = [
      { tempId: 'a', estimatedDurationMinutes: 30 },
      { tempId: 'b', dependsOn: ['a'], estimatedDurationMinutes: 45 },
      { tempId: 'c', estimatedDurationMinutes: 50 },
    ]
    expect(timeWords(tasks, upstreamPlaces(tasks))).toBe('1 h 15 m at least')
    const unknown = [...tasks, { tempId: 'd' }]
    expect(timeWords(unknown, upstreamPlaces(unknown))).toBe('1 h 15 m at least, unknown for 1 of 4 tasks')
    expect(timeWords([{ tempId: 'a' }], [[]])).toBe('time unknown')
  })

  test('have a step for 400 tasks before one that joins them, and end for a cycle', () => {
    const join = [...Array.from({ length: 400 }, () => []), Array.from({ length: 400 }, (_, place) => place)]
    expect(stepsOf(join).steps.map(({ length }) => length)).toEqual([400, 1])
    expect(stepsOf([[1], [0], []]).stepOf).toEqual([1, 1, 0])
  })
})

describe('problems of a plan', () => {
  const refused = (...problems: object[]) =>
    new Problem(422, { code: 'PLAN_INVALID', title: 'x', status: 422, problems }, null)

  test('are at their task and field, in words', () => {
    const found = problemsIn(
      refused(
        {
          at: '/tasks/1/depends_on/0',
          message: 'is "nowhere", which is not in the plan',
          line: 7,
          column: 3,
        },
        { at: '/tasks/1/budget/maxUsd', message: 'must be dollars, such as "2.50"' },
        { at: '/tasks/0/tempId', message: 'is "a", which is already used at /tasks/1/tempId' },
        { at: '/tasks/0/colour', message: 'is not a field of a task, which may have tempId, title' },
        { at: '/plan/tasks/2/successCriteria', message: 'must be text, not a list' },
        { at: '', message: 'the plan has too many values' },
      ),
    )!
    expect(found).toEqual([
      { task: 1, field: 'dependsOn', words: 'Dependency 1 is "nowhere", which is not in the plan.', line: 7 },
      {
        task: 1,
        field: 'budget',
        part: 'maxUsd',
        words: 'The budget in dollars must be dollars, such as "2.50".',
        line: null,
      },
      { task: 0, field: 'tempId', words: 'The id is "a", which is already used in task 2.', line: null },
      { task: 0, field: 'colour', words: '“colour” is not a field of a task.', line: null },
      { task: 2, field: 'successCriteria', words: '“done when” must be text, not a list.', line: null },
      { task: null, field: null, words: 'The plan has too many values.', line: null },
    ])
    expect(byTask(found).get(1)).toHaveLength(2)
    expect(saidAt([found[0]!, found[0]!], 'dependsOn')).toBe(`${found[0]!.words} 1 more.`)
    expect(problemsIn(new Error('offline'))).toBe(null)
  })

  test('of a mapping are at the field of it that is shown, and the rest is at the mapping', () => {
    const at = (path: string, message = 'must be a whole number') => ({ at: `/tasks/0/${path}`, message })
    const found = problemsIn(
      refused(
        at('budget/max_tokens'),
        at('timeouts/stallSeconds'),
        at('timeouts/forever', 'is not a field of timeouts, which may have stallSeconds'),
        at('verification', 'needs the command that verifies the result'),
        at('verification/threshold', 'must be a number from 0 to 1'),
        at('input/a/b'),
      ),
    )!
    expect(saidIn(found, 'budget', 'maxTokens')).toBe('The budget in tokens must be a whole number.')
    expect(saidIn(found, 'budget', 'maxUsd')).toBe(null)
    expect(saidOfRest(found, 'timeouts', ['stallSeconds'])).toBe('“forever” is not a field of timeouts.')
    expect(saidOfRest(found, 'verification', ['threshold'])).toContain('needs the command')
    // Where the field is not shown, it is said at the mapping.
    expect(saidOfRest(found, 'verification', [])).toContain('1 more.')
    expect(saidAt(found, 'input')).not.toBe(null)
  })

  test('of the plan itself are at its own fields', () => {
    const found = problemsIn(refused({ at: '/strategy', message: 'must be text, not a list', line: 2 }))!
    expect(saidAt(ofPlan(found), 'strategy')).toBe('The strategy must be text, not a list.')
    expect(byTask(found).size).toBe(0)
  })

  test('of a plan with five hundred of them are all told, each at its task and line', () => {
    const tasks = Array.from(
      { length: 500 },
      (_, at) => `  - { tempId: t${at}, title: T, dependsOn: [ none${at} ] }\n`,
    )
    const read = readPlan(`tasks:\n${tasks.join('')}`, 'mission')
    if (read.ok) throw new Error('it is valid')
    const found = problemsIn(refused(...read.problems))!
    expect(found).toHaveLength(500)
    expect(found.map(({ task, line }) => [task, line])).toEqual(tasks.map((_, at) => [at, at + 2]))
    expect(byTask(found).size).toBe(500)
    expect(saidAt(found, 'dependsOn')).toBe(`${found[0]!.words} 499 more.`)
  })

  test('of real plans have the lines of the text', () => {
    const read = readPlan(TEXT.replace('[ map ]', '[ map, none ]'), 'mission')
    if (read.ok) throw new Error('it is valid')
    expect(problemsIn(refused(...read.problems))).toEqual([
      { task: 1, field: 'dependsOn', words: 'Dependency 2 is "none", which is not in the plan.', line: 7 },
    ])
  })
})

describe('agents of a plan', () => {
  const agent = (slug: string, state: Agent['state'], ...capabilities: string[]) => ({
    slug,
    state,
    capabilities,
  })
  const roster = { agents: [agent('dev-1', 'idle', 'go'), agent('dev-2', 'paused')], isCut: false }
  const said = (task: Json) => notesOf(task, roster).map(({ words }) => words)

  test('that are unknown, paused or not able are told', () => {
    expect(said({ agent: 'dev-1' })).toEqual([])
    expect(said({ agent: 'dev-9', verification: { kind: 'agent', agent: 'dev-2' } })).toEqual([
      'There is no agent “dev-9”.',
      'dev-2 is paused.',
    ])
    expect(said({ required_capabilities: ['rust'] })).toEqual(['No agent has the capability “rust”.'])
    expect(notesOf({ agent: 'dev-9' }, { ...roster, isCut: true })).toEqual([])
  })
})

describe('one more task of a mission that runs', () => {
  const nodes = [
    { id: 'a', title: 'Map', state: 'completed' },
    { id: 'b', title: 'Move', state: 'running' },
  ]
  const edges = [{ from: 'a', to: 'b' }]

  test('is told where it goes', () => {
    const where = (added: Json) => placeWords(withAdded(nodes, edges, added), nodes)
    expect(where({ tempId: 'new' })).toMatch(/^Step 1, beside 1 other task\. It can begin at once\./)
    expect(where({ tempId: 'new', dependsOn: ['a', 'b'] })).toMatch(
      /^Step 3, after “Map”, “Move”\. It begins when they have ended\./,
    )
  })

  test('is sent as a task', () => {
    const task = {
      tempId: 'new',
      title: ' Check ',
      dependsOn: ['a', { on: 'b', kind: 'order' }],
      capabilities: ['go'],
    }
    expect(bodyOf({ ...task, optional: true, budget: { maxUsd: '1' } }, 'm')).toEqual({
      title: 'Check',
      mission: 'm',
      optional: true,
      budget: { maxUsd: '1' },
      requiredCapabilities: ['go'],
      dependsOn: [
        { on: 'a', kind: 'data' },
        { on: 'b', kind: 'order' },
      ],
    })
  })
})

describe('a value of any form', () => {
  test('is edited as JSON, and stays text while it cannot be read', () => {
    const schema = { type: 'object', required: ['a'] }
    expect(jsonFrom(jsonText(schema))).toEqual(schema)
    expect(jsonFrom('{"type":')).toBe('{"type":')
    expect(jsonText('{"type":')).toBe('{"type":')
    expect([jsonText(undefined), jsonText(4), jsonText(null)]).toEqual(['', '4', 'null'])
  })
})
