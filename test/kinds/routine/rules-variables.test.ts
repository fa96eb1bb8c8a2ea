import { describe, expect, test } from 'vitest'
import { checkPlan } from '../../../src/kinds/mission/plan/read.ts'
import {
  environmentOf,
  schemaProblems,
  unknownNames,
  VariablesSchema,
  valuesOf,
  withValues,
} from '../../../src/kinds/routine/rules/variables.ts'

/** The variables of routines. */

const schema = (properties: object, required: string[] = []) =>
  VariablesSchema.parse({ properties, required })
const planOf = (tasks: object[]) => {
  const reading = checkPlan({ tasks }, 'mission')
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.plan
}
const templated = (tasks: object[], more = {}) => ({
  ...{ goal: 'Do {{what}}', title: 'Weekly: {{what}}', description: null, plan: planOf(tasks), ...more },
})

describe('a schema of variables', () => {
  test.each([
    [{ type: 'array' }],
    [{ properties: { a: {} } }],
    [{ properties: { a: { type: 'object' } } }],
    [{ properties: { a: { type: 'string', pattern: '^(a+)+$' } } }],
    [{ properties: { a: { type: 'string', default: 5 } } }],
    [{ properties: { 'a-b': { type: 'string' } } }],
    [{ properties: { '': { type: 'string' } } }],
    [{ properties: { a: { $ref: '#/a' } } }],
    [{ additionalProperties: true }],
    [
      {
        properties: Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`v${i}`, { type: 'string' }])),
      },
    ],
  ])('has only what is checked: %j is refused', (wrong) => {
    expect(VariablesSchema.safeParse(wrong).success).toBe(false)
  })

  test('names what it requires, and has defaults that fit', () => {
    const wrong = schema({ size: { type: 'integer', minimum: 3, default: 1 } }, ['other'])
    expect(schemaProblems(wrong)).toEqual([
      { at: 'required', message: expect.stringContaining('"other"') },
      { at: 'properties.size.default', message: 'must be at least 3' },
    ])
    expect(schemaProblems(schema({ size: { type: 'integer', minimum: 1, default: 1 } }, ['size']))).toEqual(
      [],
    )
  })
})

describe('values', () => {
  const variables = schema(
    {
      what: { type: 'string', maxLength: 5 },
      level: { type: 'string', enum: ['low', 'high'], default: 'low' },
      count: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
      loud: { type: 'boolean', default: false },
      sure: { type: 'boolean', default: true },
    },
    ['sure'],
  )

  test('are those that were given, and the defaults of the others', () => {
    expect(valuesOf(variables, { what: 'x', count: 5, sure: true })).toEqual({
      values: { what: 'x', level: 'low', count: 5, loud: false, sure: true },
    })
  })

  test('that are unknown, missing or unfit are refused, all at once', () => {
    const wrong = { level: 'middle', count: 2.5, loud: 'yes', toString: 'x', constructor: 'y' }
    expect(valuesOf(variables, wrong)).toEqual({
      problems: [
        { at: 'toString', message: 'is no variable of this routine' },
        { at: 'constructor', message: 'is no variable of this routine' },
        { at: 'what', message: 'is missing' },
        { at: 'level', message: 'is none of the values of its enum' },
        { at: 'count', message: 'must be a whole number' },
        { at: 'loud', message: 'must be true or false' },
        { at: 'sure', message: 'is missing' },
      ],
    })
    expect(valuesOf(variables, { what: 'too long', sure: false })).toMatchObject({
      problems: [{ at: 'what', message: 'must have at most 5 characters' }],
    })
  })
})

describe('variables in a plan', () => {
  const task = {
    tempId: 'a{{what}}',
    title: 'Look at {{ what }}',
    description: '{{what}} and {{what}}',
    taskType: 'research',
    successCriteria: 'No {{what}} left',
    systemPrompt: 'You know {{what}}.',
    tags: ['{{what}}'],
    agent: 'dev',
    verification: { kind: 'command', command: 'check {{what}}' },
    outputSchema: { type: 'object', description: '{{what}}' },
    input: { '{{what}}': ['{{what}}', { deep: 'x {{count}}' }, 5, null] },
  }

  test('are replaced in its texts and its input, and nowhere else', () => {
    const { goal, title, plan } = withValues(templated([task]), { what: 'rust', count: 3 })
    expect({ goal, title }).toEqual({ goal: 'Do rust', title: 'Weekly: rust' })
    expect(plan.tasks[0]).toMatchObject({
      tempId: 'a{{what}}',
      title: 'Look at rust',
      description: 'rust and rust',
      successCriteria: 'No rust left',
      systemPrompt: 'You know rust.',
      tags: ['{{what}}'],
      verification: { command: 'check {{what}}' },
      outputSchema: { description: '{{what}}' },
      input: { '{{what}}': ['rust', { deep: 'x 3' }, 5, null] },
    })
  })

  test('are replaced once: what a value contains is text', () => {
    const value = '{{count}} {{what}}\n- tempId: evil\n  $& $1 {{#each}} "quoted": [1]'
    const { goal, title, plan } = withValues(templated([task]), { what: value, count: 3 })
    expect(goal).toBe(`Do ${value}`)
    expect(plan.tasks).toHaveLength(1)
    expect(plan.tasks[0]!.systemPrompt).toBe(`You know ${value}.`)
    // A title is one line.
    expect(title).toBe(`Weekly: ${value.replaceAll(/\n/g, ' ')}`)
  })

  test('that no property declares are found, in every text', () => {
    const declared = schema({ what: { type: 'string' } })
    expect(unknownNames(templated([task]), declared)).toEqual(['count'])
    expect(
      unknownNames(templated([{ tempId: 'a' }], { goal: '{{toString}} {{ 5 }} {{}} {{a-b}}' }), declared),
    ).toEqual(['toString'])
  })

  test('are in the environment of commands under a name of their own', () => {
    expect(environmentOf({ what: 'a\nb; rm -rf /', count: 3, on: true, PATH: 'x\0y' })).toEqual({
      ...{
        BATON_VAR_what: 'a\nb; rm -rf /',
        BATON_VAR_count: '3',
        BATON_VAR_on: 'true',
        BATON_VAR_PATH: 'xy',
      },
    })
  })
})
