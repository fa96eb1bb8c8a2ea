import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { table } from '../../scripts/docs/markdown.ts'
import { pages } from '../../scripts/docs/pages.ts'
import { ALERT_CAUSES, causeOf } from '../../src/kinds/alert/causes.ts'
import { eventTypes } from '../../src/kinds/catalogue.ts'
import { MISSION_TRANSITIONS } from '../../src/kinds/mission/states.ts'
import { RUN_TRANSITIONS, RUNTIME_CHANGES, WAKEUP_TRANSITIONS } from '../../src/kinds/run/states.ts'
import { ERRORS } from '../../src/pure/errors.ts'
import {
  CLAIM_ENDS,
  CLAIM_STATES,
  TASK_TRANSITIONS,
  type TaskState,
  taskStates,
} from '../../src/pure/states.ts'

const repository = resolve(import.meta.dirname, '../..')

function onDisk(path: string): string {
  try {
    return readFileSync(join(repository, path), 'utf8')
  } catch {
    return ''
  }
}

test.each(Object.keys(pages))('%s is generated from the sources', (path) => {
  expect(onDisk(path), `${path} is out of date: run npm run docs`).toBe(pages[path]!())
})

const cells = (page: string) =>
  page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '))
const rowOf = (page: string, first: string) => cells(page).find(([cell]) => cell === `\`${first}\``)

type Table = Record<string, { from: readonly string[]; to: readonly string[] }>

/** Those that change how far a mission has come. */
const PHASE_CHANGES: Table = Object.fromEntries(
  Object.entries(MISSION_TRANSITIONS).flatMap(([name, { from, to }]) =>
    to === null ? [] : [[name, { from, to: [to] }]],
  ),
)

describe('the state machines', () => {
  const page = pages['docs/state-machines.md']!()
  const [task, claim, mission, run, wakeup] = [...page.matchAll(/```mermaid\n([\s\S]*?)\n```/g)].map(
    ([, diagram]) => diagram!,
  )

  test('every state and every transition has its row', () => {
    for (const state of taskStates) expect(rowOf(page, state), state).toBeDefined()
    for (const [name, { from, to, by }] of Object.entries(TASK_TRANSITIONS))
      expect(rowOf(page, name)).toEqual([
        `\`${name}\``,
        from.map((state) => `\`${state}\``).join(', '),
        `\`${to}\``,
        by,
      ])
    for (const [reason, state] of Object.entries(CLAIM_ENDS))
      expect(rowOf(page, reason)).toContain(`\`${state}\``)
  })

  test('the diagram of the task has exactly the arrows of the table', () => {
    const inBox = new Map<string, string[]>()
    for (const [, box, inside] of task!.matchAll(/as (\w+) \{\n([\s\S]*?)\n {2}\}/g))
      inBox.set(box!, inside!.trim().split(/\s+/))
    expect([...inBox.values()].flat().sort()).toEqual([...taskStates].sort())
    const drawn = [...task!.matchAll(/^ {2}(\S+) --> (\S+) : (.*)$/gm)].flatMap(([, from, to, labels]) =>
      (inBox.get(from!) ?? [from!]).flatMap((state) =>
        labels!.split(', ').map((label) => `${state} ${label} ${to}`),
      ),
    )
    const expected = Object.entries(TASK_TRANSITIONS).flatMap(([name, { from, to }]) =>
      (from as readonly TaskState[]).map((state) => `${state} ${name.replace('task_', '')} ${to}`),
    )
    expect(drawn.filter((arrow) => !arrow.startsWith('[*]')).sort()).toEqual(expected.sort())
    expect(drawn.filter((arrow) => arrow.startsWith('[*]'))).toEqual([
      '[*] created queued',
      '[*] created pending',
      '[*] created skipped',
    ])
  })

  test('the diagram of the claim has every state and every end', () => {
    for (const state of CLAIM_STATES) expect(claim).toMatch(new RegExp(`\\b${state}\\b`))
    for (const reason of Object.keys(CLAIM_ENDS)) expect(claim).toMatch(new RegExp(`\\b${reason}\\b`))
  })

  test.each([
    ['the phases of a mission', mission!, PHASE_CHANGES],
    ['a run', run!, RUN_TRANSITIONS],
    ['a wakeup', wakeup!, WAKEUP_TRANSITIONS],
  ] satisfies [string, string, Table][])(
    'the diagram of %s has exactly the arrows of its table',
    (_what, diagram, transitions: Table) => {
      const drawn = [...diagram.matchAll(/^ {2}(\S+) --> (\S+) : (.*)$/gm)].map(
        ([, from, to, name]) => `${name} ${from} ${to}`,
      )
      const expected = Object.entries(transitions).flatMap(([name, { from, to }]) =>
        from.flatMap((origin) =>
          to.map((target) => `${name} ${origin === 'new' ? '[*]' : origin} ${target}`),
        ),
      )
      expect(drawn.sort()).toEqual(expected.sort())
    },
  )

  test('every change of the runtime state has its row', () => {
    for (const [name, fields] of Object.entries(RUNTIME_CHANGES))
      expect(cells(page)).toContainEqual([`\`${name}\``, fields.map((field) => `\`${field}\``).join(', ')])
  })
})

test('every error has its row, and its status has advice', () => {
  const page = pages['docs/errors.md']!()
  for (const [code, { status, title }] of Object.entries(ERRORS)) {
    expect(rowOf(page, code)).toEqual([`\`${code}\``, String(status), title])
    const advice = cells(page).find(([cell]) => cell === String(status))
    expect(advice?.[2]?.split(' ')).toContain(`\`${code}\``)
  }
})

test('every event has its row, with its level, its payload and whether it changes the state', () => {
  const page = pages['docs/events.md']!()
  for (const type of eventTypes)
    expect(rowOf(page, type)).toHaveLength(type === 'task_created' || type in TASK_TRANSITIONS ? 4 : 3)
  expect(rowOf(page, 'task_retrying')![3]).toBe(
    '`agent?` text, `attempt` whole number, `attemptsSpent?` whole number, `retryAt?` number, ' +
      '`retriesRemaining?` whole number, `durationMs?` whole number, `failureClass?` text, ' +
      '`error?` text or null, `stack?` text, `dueAt` number, `waitMs` number, ' +
      '`runId?` text, `model?` text or null, `tokens?` whole number, `costUsd?` text or null, `exitCode?` anything, ' +
      '`errorType?` text',
  )
  expect(rowOf(page, 'task_queued')![3]).toBe('`because` "due" or "dependencies_met", `unblockedBy?` text')
  expect(rowOf(page, 'task_updated')![2]).toBe(
    '`fields` list of text, `changes?` object, `removedDependencies?` list of text',
  )
  expect(rowOf(page, 'task_archived')![2]).toBe('empty')
  expect(rowOf(page, 'task_failed')![1]).toBe('ERROR')
  expect(rowOf(page, 'alert_raised')![1]).toBe('CRITICAL')
  expect(rowOf(page, 'task_logged')![1]).toBe('set by the holder')
})

test('every cause of an alert has its row, its paragraph and what to do', () => {
  const text = pages['docs/alerts.md']!()
  for (const cause of ALERT_CAUSES) {
    const { severity, words, when, todo, threshold } = causeOf(cause)
    expect(text).toContain(`| [\`${cause}\`](#${cause}) | ${severity} |`)
    expect(text).toContain(`### ${cause}\n\n**${words}** (${severity}). ${when}\n\nWhat to do: ${todo}`)
    if (threshold) expect(rowOf(text, cause)![1]).toBe(String(threshold.value))
  }
})

test('a bar in a cell does not end the cell', () => {
  expect(table(['a'], [['b|c']])).toBe('| a |\n| --- |\n| b\\|c |')
})
