import { describe, expect, test } from 'vitest'
import { problemIn } from '../../src/kinds/agent/rules/problems.ts'
import { ownBodyOf, ownFieldOf, ownValuesOf, wakingIn } from '../src/pages/agent/own-fields.ts'
import { nextTimes, timerText, type Waking, wakingText, whyNotWoken } from '../src/pages/agent/schedule.ts'
import { byField, problemsIn } from '../src/pages/agent/server-problems.ts'
import { correctedSlug, freeNameLike, slugProblem } from '../src/pages/agent/slugs.ts'
import { secondsIn, spanText, spanWords } from '../src/pages/agent/spans.ts'
import { TEMPLATE_NAMES } from '../src/pages/agent/tabs.ts'
import { duplicated, missingValues, TEMPLATES, typeFor } from '../src/pages/agent/templates.ts'
import { listIn, listProblem, suggested } from '../src/pages/agent/words-list.ts'
import { canBeSaved, checkDetail } from '../src/things/agent/check-words.ts'
import { labelOfField } from '../src/things/agent/setting-words.ts'

describe('spans of time', () => {
  test('are shown in the largest unit that they are a whole number of', () => {
    expect([90, 3_600, 5_400, 86_400, 0].map(spanText)).toEqual(['90 s', '1 h', '90 m', '1 d', '0 s'])
    expect([spanWords(3_600), spanWords(7_200), spanWords(1)]).toEqual(['1 hour', '2 hours', '1 second'])
    expect(spanText(null)).toBe(' m')
  })

  test('are read in their unit, and what is wrong with one is said in words', () => {
    const bounds = { least: 1, most: 30 * 86_400 }
    expect(secondsIn('30 m', bounds)).toEqual({ seconds: 1_800 })
    expect(secondsIn('1,5 h', bounds)).toEqual({ seconds: 5_400 })
    expect(secondsIn(' m', bounds)).toEqual({ seconds: null })
    expect(secondsIn('-5 m', bounds)).toEqual({ problem: 'It cannot be negative.' })
    expect(secondsIn('0 m', bounds)).toEqual({ problem: 'It cannot be shorter than 1 second.' })
    expect(secondsIn('31 d', bounds)).toEqual({ problem: 'It cannot be longer than 30 days.' })
    expect(secondsIn('soon m', bounds)).toEqual({ problem: 'Write a number.' })
    expect(secondsIn('1.5 s', bounds)).toEqual({ problem: 'It has to be a whole number of seconds.' })
  })
})

describe('when an agent runs', () => {
  const NOW = Date.parse('2026-01-01T14:10:00')
  const waking = (more: Partial<Waking> = {}): Waking => ({
    ...{ enabled: true, intervalSec: null, cooldownSec: 0 },
    ...{ wakeOnAssignment: true, wakeOnOnDemand: true, wakeOnAutomation: true },
    ...more,
  })

  test('is told with the next three times of its timer', () => {
    const half = waking({ intervalSec: 1_800 })
    expect(nextTimes(NOW, 60)).toEqual([NOW, NOW + 60_000, NOW + 120_000])
    expect(timerText(half, NOW + 1_200_000, NOW)).toBe('Every 30 minutes: next at 14:30, 15:00 and 15:30.')
    const daily = waking({ intervalSec: 86_400 })
    expect(timerText(daily, NOW + 86_400_000, NOW)).toMatch(/^Every day: next at Fri,? 2 Jan, 14:10, /)
    expect(timerText(waking({ intervalSec: 90 }), NOW, NOW)).toContain('14:11:30')
    expect([timerText(waking(), NOW, NOW), timerText({ ...half, enabled: false }, NOW, NOW)]).toEqual([
      null,
      null,
    ])
  })

  test('is told in a sentence, and a schedule that never fires says so', () => {
    expect(wakingText(waking({ intervalSec: 3_600, wakeOnAutomation: false }))).toBe(
      'It is woken every hour, when a task is assigned to it or when a person wakes it.',
    )
    expect(whyNotWoken(waking())).toBeNull()
    expect(whyNotWoken(waking({ enabled: false, intervalSec: 60 }))).toBe(
      'The timer never fires while wakeups are off.',
    )
    const off = { wakeOnAssignment: false, wakeOnOnDemand: false, wakeOnAutomation: false }
    expect(whyNotWoken(waking(off))).toBe('Nothing wakes it: it has no timer, and everything else is off.')
    expect(whyNotWoken(waking({ ...off, intervalSec: 60 }))).toBeNull()
    expect(whyNotWoken(waking({ intervalSec: 60, cooldownSec: 7_200 }))).toContain('every 2 hours at most')
  })
})

describe('the name of an agent', () => {
  test('that does not fit is refused with the name to use instead', () => {
    expect(slugProblem('My Agent!')).toEqual({
      words: 'Use lowercase letters, digits and dashes.',
      offer: 'my-agent',
    })
    expect(slugProblem('x'.repeat(10_000))).toEqual({
      words: 'Use at most 100 characters.',
      offer: 'x'.repeat(100),
    })
    expect([slugProblem('dev-1'), slugProblem(''), slugProblem('Dev_1')]).toEqual([null, null, null])
    expect(slugProblem('本')).toMatchObject({ offer: null })
    expect(correctedSlug('  Prüfer Nº 1 ')).toBe('prufer-no-1')
  })

  test('of a copy is the first that is free', () => {
    expect(freeNameLike('dev-1', ['dev-1', 'dev-2'])).toBe('dev-3')
    expect(freeNameLike('planner', ['planner'])).toBe('planner-2')
    expect(freeNameLike('coder-1', [])).toBe('coder-1')
  })
})

describe('lists of words', () => {
  test('are separated by commas, and spaces belong to the words', () => {
    expect(listIn(' review,  code   review ,, review\nplanning')).toEqual([
      'review',
      'code review',
      'planning',
    ])
    expect(listProblem(['x'.repeat(101)])).toContain('too long: at most 100 characters each')
    expect(listProblem(Array.from({ length: 51 }, (_, i) => `c${i}`))).toBe(
      'At most 50 are possible; these are 51.',
    )
  })

  test('offer what others use most and what is not chosen yet', () => {
    expect(suggested(['code', 'review', 'review', 'planning'], ['planning'])).toEqual(['review', 'code'])
  })
})

describe('the settings of any agent', () => {
  const runtimeConfig = {
    ...{ role: 'Repairs', node: 'n-1', fallbackModels: ['a', 'b'], custom: 7 },
    heartbeat: { intervalSec: 1_800, wakeOnOnDemand: false },
    watch: { silentSec: 0 },
  }
  const agent = {
    name: 'Dev',
    maxConcurrentTasks: null,
    taskTypes: ['docs'],
    capabilities: ['code'],
    runtimeConfig,
  }

  test('come out of the form as they went in, with those that it does not show', () => {
    const { body, problems } = ownBodyOf(ownValuesOf(agent), runtimeConfig)
    expect(problems).toEqual({})
    expect(body).toEqual(agent)
  })

  test('that have their standard are not stored', () => {
    const values = { ...ownValuesOf(agent), $timer: ' m', $onDemand: true, $node: '', $silent: ' m' }
    expect(ownBodyOf(values, runtimeConfig).body.runtimeConfig).toEqual({
      ...{ role: 'Repairs', fallbackModels: ['a', 'b'], custom: 7 },
    })
    expect(ownBodyOf(ownValuesOf({}), null)).toEqual({
      body: { maxConcurrentTasks: 1, taskTypes: [], capabilities: [], runtimeConfig: {} },
      problems: {},
    })
  })

  test('that cannot be read are named by field, all at once', () => {
    const wrong = { $timer: '-1 m', $tasks: '-2', $errors: 'x', $role: 'x'.repeat(10_000), $wakeups: '0' }
    const { problems } = ownBodyOf({ ...ownValuesOf({}), ...wrong }, null)
    expect(problems).toEqual({
      $timer: 'It cannot be negative.',
      $tasks: 'It cannot be negative.',
      $errors: 'Write a whole number.',
      $role: 'At most 2,000 characters; these are 10,000.',
      $wakeups: 'It cannot be less than 1.',
    })
    expect(wakingIn({ ...ownValuesOf({}), $timer: 'x m' }).intervalSec).toBeNull()
  })
})

describe('what the server says is wrong', () => {
  test('stands at its field, in a sentence', () => {
    const errors = [
      { field: 'adapterConfig', message: 'command is missing.' },
      {
        field: 'adapterConfig',
        message: 'env and headers have 70000 bytes in total; at most 65536 are allowed.',
      },
      { field: 'config.cwd', message: 'is in the data folder, which is reserved for Baton' },
      { field: 'runtimeConfig', message: 'heartbeat.intervalSec must not be less than 1.' },
      { field: 'taskTypes[0]', message: 'must not be longer than 100' },
      { field: 'runtimeConfig.node', message: 'names mars, and no node of that name is running' },
    ]
    expect(problemsIn(Object.assign(new Error(), { errors }))).toEqual({
      rest: null,
      fields: {
        command: 'It is missing.',
        env: 'env and headers have 70000 bytes in total; at most 65536 are allowed.',
        cwd: 'It is in the data folder, which is reserved for Baton.',
        $timer: 'It must not be less than 1.',
        $types: 'It must not be longer than 100.',
        $node: 'It names mars, and no node of that name is running.',
      },
    })
  })

  test('and is at no field stands by itself', () => {
    const errors = [{ field: 'adapterType', message: 'is not allowed' }]
    const error = Object.assign(new Error(), { errors })
    expect(problemsIn(error)).toEqual({ fields: {}, rest: error })
    expect(byField(errors).rest).toEqual(errors)
    expect([ownFieldOf('id'), ownFieldOf('watch')]).toEqual(['$slug', null])
  })

  test('is told by the names of the form where it stands in a list', () => {
    const problems = ['command is missing.', 'timeoutSec must not be less than 1.'].map((one) =>
      problemIn(one, 'adapterConfig'),
    )
    const check = { name: 'settings', ok: false, detail: 'command is missing. …', problems }
    expect(checkDetail(check)).toBe('Command is missing. Time limit of a run must not be less than 1.')
    expect(labelOfField('adapterConfig.env.TOKEN')).toBe('Environment, TOKEN,')
    const folder = { name: 'folder', ok: false, detail: 'The folder /x does not exist.' }
    expect(
      checkDetail({ ...folder, problems: [{ field: 'adapterConfig.cwd', message: folder.detail }] }),
    ).toBe(folder.detail)
    expect(canBeSaved({ ok: false, checks: [folder] })).toBe(true)
    expect(canBeSaved({ ok: false, checks: [folder, check] })).toBe(false)
  })
})

describe('templates', () => {
  test('fill in what an agent is for, and suit the programs that can be used', () => {
    for (const name of TEMPLATE_NAMES) {
      const { values, slug } = TEMPLATES[name]
      expect(slugProblem(slug)).toBeNull()
      expect(ownBodyOf({ ...ownValuesOf({}), ...values }, null).problems).toEqual({})
      expect(String(values.$role).length, name).toBeGreaterThan(20)
    }
    expect(listIn(String(TEMPLATES.planner.values.$capabilities))).toContain('planning')
    expect(listIn(String(TEMPLATES.planner.values.$types))).toEqual(['planning'])
    // Choosing another one takes back what the first filled in.
    const fieldsOf = (name: (typeof TEMPLATE_NAMES)[number]) => Object.keys(TEMPLATES[name].values)
    for (const name of TEMPLATE_NAMES) expect(fieldsOf(name), name).toContain('$types')
    expect(listIn(String(TEMPLATES.reviewer.values.$capabilities))).toContain('verification')
    const allowed = ['process', 'codex_local', 'claude_local']
    expect(typeFor('coder', allowed, ['codex_local'])).toBe('codex_local')
    expect(typeFor('coder', allowed, [])).toBe('claude_local')
    expect(typeFor('script', allowed, [])).toBe('process')
    expect(typeFor('script', ['simulated'], [])).toBeNull()
  })

  test('and copies take all but secrets, which are asked for by name', () => {
    const { config, withoutValue } = duplicated({ cwd: '/a', env: { TOKEN: '********' } })
    expect([config, withoutValue]).toEqual([{ cwd: '/a', env: { TOKEN: '' } }, ['TOKEN']])
    expect(missingValues(config, withoutValue).env).toBe(
      'Write the value of TOKEN, or remove it: secrets are not copied.',
    )
    expect(missingValues({ env: { TOKEN: 'x' } }, withoutValue)).toEqual({})
  })
})
