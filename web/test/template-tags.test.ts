import { describe, expect, test } from 'vitest'
import { parseTemplate } from '../../src/kinds/run/prompts/template.ts'
import { PROMPT_VARIABLES } from '../../src/kinds/run/prompts/variables.ts'
import { nameAt, pillText, rangeOf, sensitiveUses, tagsIn, wordsOf } from '../src/forms/template-tags.ts'
import { variableGroups } from '../src/pages/agent/variable-groups.ts'

/** The prompt editor without its editor. */

const shown = (text: string) => tagsIn(text).map(({ from, to }) => text.slice(from, to))

describe('tags of a template', () => {
  test('are those that the server reads: no escaped, malformed or open ones', () => {
    const text =
      'Do {{task.title}} \\{{not.this}} \\\\{{ task.key }} {{1bad}} {{{x}}} {{#task.input}}\n{{open'
    expect(shown(text)).toEqual(['{{task.title}}', '{{ task.key }}', '{{#task.input}}'])
  })

  test('are drawn in plain words', () => {
    expect(wordsOf('task.successCriteria')).toBe('task success criteria')
    expect(wordsOf('credentials.apiBaseUrl')).toBe('credentials API base URL')
    const words = tagsIn('{{#task.comments}}{{task.comments}}{{/task.comments}}{{^task.input}}').map(pillText)
    expect(words).toEqual(['if task comments', 'task comments', 'end of task comments', 'if no task input'])
  })

  test('are reported when they put a sensitive value into the prompt, and not when they ask whether there is one', () => {
    const text =
      'A\n{{#credentials.apiKey}}\nKey: {{credentials.apiKey}} of {{task.title}}\n{{/credentials.apiKey}}'
    expect(sensitiveUses(text, PROMPT_VARIABLES)).toMatchObject([
      { variable: { path: 'credentials.apiKey' }, line: 3, from: text.indexOf('{{credentials.apiKey}}') },
    ])
  })
})

describe('problems of a template', () => {
  const problemsOf = (text: string) => {
    const parsed = parseTemplate(text)
    return parsed.ok ? [] : parsed.problems
  }

  test('are underlined where the server says, over the tag that is meant', () => {
    const text = 'ä {{task.tite}} and\n\n{{#task.input}} {{ open\n{{}} {{{task.key}}}'
    const marked = problemsOf(text).map((problem) => {
      const { from, to } = rangeOf(text, problem)
      expect(from).toBe(problem.position)
      return text.slice(from, to)
    })
    expect(marked).toEqual(['{{task.tite}}', '{{#task.input}}', '{{', '{{}}', '{{{task.key}}'])
  })

  test('stay inside a text that has become shorter', () => {
    expect(rangeOf('ab', { line: 7, column: 40 })).toEqual({ from: 2, to: 2 })
    expect(rangeOf('', { line: 1, column: 1 })).toEqual({ from: 0, to: 0 })
  })
})

describe('a name that is being typed', () => {
  const at = (text: string) => {
    const cursor = text.indexOf('|')
    const found = nameAt(text.replace('|', ''), cursor)
    return found && text.replace('|', '').slice(found.from, found.to)
  }

  test('is found after two braces, with what of the tag follows it', () => {
    expect(at('Do {{|')).toBe('')
    expect(at('Do {{ta|')).toBe('ta')
    expect(at('Do {{# ta|sk.key }} now')).toBe('task.key }}')
    expect(at('\\\\{{ta|')).toBe('ta')
  })

  test('is none outside of a tag, after escaped braces, or on the next line', () => {
    expect([at('Do {|'), at('{{task.key}} ta|'), at('\\{{ta|'), at('{{\nta|')]).toEqual([
      null,
      null,
      null,
      null,
    ])
  })
})

test('every variable that is not an alias has one button', () => {
  const offered = variableGroups(PROMPT_VARIABLES).flatMap(({ members }) =>
    members.map((one) => one.variable.path),
  )
  const own = PROMPT_VARIABLES.filter((variable) => !('aliasOf' in variable)).map(({ path }) => path)
  expect(offered.toSorted()).toEqual(own.toSorted())
  expect(variableGroups(PROMPT_VARIABLES)[0]!.subject).toBe('Task')
})
