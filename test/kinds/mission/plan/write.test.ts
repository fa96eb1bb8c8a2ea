import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defaultTitle, type Plan, type PlanTask } from '../../../../src/kinds/mission/plan/plan.ts'
import { writePlan } from '../../../../src/kinds/mission/plan/write.ts'
import { Slug, Tag, Title } from '../../../../src/pure/shapes.ts'
import { CODITECT_PLAN } from '../../../support/coditect-plan.ts'
import { planIn, withFields, withoutLines, withTasks } from '../../../support/plan-texts.ts'
import { rounds } from '../../../support/rounds.ts'

describe('a plan that is written', () => {
  const tricky = fc.constantFrom(
    ...[
      'yes',
      'No',
      'null',
      '~',
      'true',
      '001',
      '1e3',
      '0x1f',
      '.inf',
      '-0',
      '<<',
      '=',
      '- a',
      'a: b',
      'a #b',
      '#b',
    ],
    ...[
      '|',
      '>',
      '---',
      '...',
      '%x',
      '@x',
      '`x',
      '!x',
      '&a',
      '*a',
      '{',
      '[',
      ',',
      "'",
      '"',
      '\\',
      ' a',
      'a ',
      '\t',
    ],
    ...[
      'a\nb',
      'a\n',
      '\na',
      '\n',
      'a\n\n b\n',
      ' a\n b',
      'a\r\nb',
      '\r',
      '\u0085',
      '\u2028',
      '\ufeff',
      '\u007f',
      '\u001b',
    ],
    ...[
      'A-001-x',
      '2024-01-01',
      '1_000',
      'constructor',
      'toString',
      'x'.repeat(200),
      'word '.repeat(40),
      '😀',
    ],
  )
  const words = fc
    .oneof(
      tricky,
      fc.string({ unit: 'binary' }),
      fc.array(tricky, { maxLength: 4 }).map((parts) => parts.join('')),
    )
    .filter((text) => !text.includes('\0'))
  const titles = words.filter((text) => Title.safeParse(text).success)
  const tags = words.filter((text) => Tag.safeParse(text).success)
  const slugs = fc
    .oneof(fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,9}$/), tricky)
    .filter((text) => Slug.safeParse(text).success)
  const { input } = fc.letrec<{ input: unknown }>((tie) => ({
    input: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0),
      words,
      fc.array(tie('input'), { maxLength: 3 }),
      fc.dictionary(
        words.filter((key) => key !== '__proto__'),
        tie('input'),
        { maxKeys: 3 },
      ),
    ),
  }))
  const orNull = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null })

  const fields = fc.record({
    title: orNull(titles),
    description: orNull(words),
    taskType: fc.oneof(fc.constant('other'), tags),
    priority: fc.integer({ min: 1, max: 10 }),
    triggerRule: fc.constantFrom('all_success', 'all_done', 'none_failed', 'always'),
    tags: fc.array(tags, { maxLength: 3 }),
    requiredCapabilities: fc.array(tags, { maxLength: 3 }),
    agent: orNull(slugs),
    maxRetries: fc.integer({ min: 0, max: 100 }),
    maxContinuations: fc.integer({ min: 0, max: 1_000 }),
    input,
    /** Which of the tasks before it it depends on. */
    waits: fc.array(fc.nat(), { maxLength: 3 }),
  })
  const tasks = fc.uniqueArray(
    fc.record({
      sequence: fc.integer({ min: 1, max: 999 }),
      name: fc.stringMatching(/^[a-zA-Z0-9_-]{1,50}$/),
      merge: fc.constantFrom('object', 'task'),
      subtasks: fc.array(fields, { maxLength: 3 }),
      fields,
    }),
    { minLength: 1, maxLength: 4, selector: ({ sequence }) => sequence },
  )
  const tracks = fc.uniqueArray(
    fc.record({
      track: fc.stringMatching(/^[A-Z]{1,8}$/),
      maxAgents: orNull(fc.integer({ min: 1, max: 10_000 })),
      sequential: fc.boolean(),
      purpose: orNull(titles),
      tasks,
    }),
    { minLength: 1, maxLength: 4, selector: ({ track }) => track },
  )

  /** Valid plans: each task depends only on tasks before it, so there is no cycle. */
  const plans = fc
    .record({ project: slugs, name: orNull(titles.filter((name) => name.length <= 200)), tracks })
    .map((drawn): Plan => {
      const before: string[] = []
      const taskOf = (
        key: string,
        { waits, title, ...rest }: typeof fields extends fc.Arbitrary<infer F> ? F : never,
      ): PlanTask => ({
        ...rest,
        key,
        title: title ?? defaultTitle(key, rest.description),
        dependsOn: [...new Set(waits.flatMap((wait) => before[wait % Math.max(before.length, 1)] ?? []))],
        merge: null,
        subtasks: [],
        line: 0,
      })
      return {
        ...drawn,
        tracks: drawn.tracks.map((track) => ({
          ...track,
          tasks: track.tasks
            .toSorted((one, other) => one.sequence - other.sequence)
            .map(({ sequence, name, merge, subtasks, fields }) => {
              const key = `${track.track}-${String(sequence).padStart(3, '0')}-${name}`
              const parts = subtasks.map((part, i) => taskOf(`${key}::${i + 1}`, part))
              const task = { ...taskOf(key, fields), subtasks: parts, merge: parts.length > 0 ? merge : null }
              before.push(...parts.map((part) => part.key), key)
              return task
            }),
        })),
      }
    })

  test.each(['yaml', 'json'] as const)('as %s is read back unchanged', (format) => {
    fc.assert(
      fc.property(plans, (plan) => {
        expect(withoutLines(planIn(writePlan(plan, format)))).toEqual(plan)
      }),
      { numRuns: rounds(40, 200) },
    )
  })

  test('leaves out default values', () => {
    expect(writePlan(planIn(CODITECT_PLAN), 'yaml').split('\n').slice(0, 9)).toEqual([
      'project: ecommerce-rebuild',
      'tracks:',
      '  A:',
      '    - id: A-001-core-framework',
      '      description: Initialize core application framework',
      '    - id: A-002-di-container',
      '      description: Setup dependency injection container',
      '      depends_on: [ A-001-core-framework ]',
      '    - id: A-003-event-bus',
    ])
    expect(JSON.parse(writePlan(planIn(withFields()), 'json'))).toEqual({
      project: 'p',
      tracks: { A: [{ id: 'A-001-x' }] },
    })
  })

  test('writes in full what several tasks share', () => {
    const plan = planIn(withTasks('- id: A-001-x', '- id: A-002-x'))
    const shared = { list: [1] }
    for (const task of plan.tracks[0]!.tasks) task.input = [shared, shared.list]
    expect(withoutLines(planIn(writePlan(plan, 'yaml')))).toEqual(withoutLines(plan))
  })

  test('quotes what older YAML readers would interpret differently', () => {
    expect(writePlan(planIn(withFields('input: {"<<": "no"}')), 'yaml')).toContain('"<<": "no"')
  })
})
