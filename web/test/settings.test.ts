import { describe, expect, test } from 'vitest'
import {
  bodyOf,
  browserWords,
  curlOf,
  EMPTY_KEY,
  missingIn,
  rightsWords,
  rolesWithin,
  scopesOf,
  statusOf,
} from '../src/pages/settings/key-words.ts'
import {
  changesIn,
  differences,
  inWords,
  type Limits,
  limitText,
  refusalIn,
  shownIn,
  unitText,
} from '../src/pages/settings/limit-fields.ts'

/** What the settings say of keys, browsers and limits. */

const NOW = Date.parse('2026-05-04T10:00:00Z')

describe('a key', () => {
  test('is valid until it is revoked or has expired', () => {
    const never = { revokedAt: null, expiresAt: null }
    expect(statusOf(never, NOW)).toBe('valid')
    expect(statusOf({ ...never, expiresAt: '2026-05-04T09:00:00Z' }, NOW)).toBe('expired')
    expect(statusOf({ ...never, expiresAt: '2026-05-04T11:00:00Z' }, NOW)).toBe('valid')
    expect(statusOf({ revokedAt: '2026-05-01T00:00:00Z', expiresAt: '2026-05-04T09:00:00Z' }, NOW)).toBe(
      'revoked',
    )
  })

  test('says what it may do: its role, what is left of it, and what an agent needs', () => {
    const key = { role: 'member', scopes: null, instanceAdmin: false, agent: null } as const
    expect(rightsWords(key)).toBe('read, work on tasks, operate tasks')
    expect(rightsWords({ ...key, scopes: ['read'] })).toBe('read')
    expect(rightsWords({ ...key, role: 'owner', agent: 'dev-1' })).toBe('read, work on tasks')
    expect(rightsWords({ ...key, scopes: [] })).toBe('nothing')
  })

  test('grants no more than its maker has', () => {
    expect(rolesWithin(new Set(['read', 'work', 'operate', 'configure_agents', 'admin'] as const))).toEqual([
      'admin',
      'member',
      'viewer',
    ])
  })

  test('is sent with what was chosen alone, in the order of the rights', () => {
    expect(missingIn(EMPTY_KEY)).toBe('Give it a name first.')
    expect(missingIn({ ...EMPTY_KEY, name: 'CI', scopes: [] })).toBe('Choose at least one right.')
    expect(bodyOf({ ...EMPTY_KEY, name: ' CI ' }, NOW)).toEqual({ name: 'CI', role: 'member' })
    const draft = {
      ...EMPTY_KEY,
      name: 'CI',
      scopes: ['work', 'read'],
      expiry: 'week',
      agent: 'dev-1',
    } as const
    expect(bodyOf(draft, NOW)).toEqual({
      ...{ name: 'CI', role: 'member', scopes: ['read', 'work'], agent: 'dev-1' },
      expiresAt: '2026-05-11T10:00:00.000Z',
    })
    expect(scopesOf('owner')).not.toContain('own')
    expect(curlOf('http://127.0.0.1:4400', 'baton_x')).toBe(
      'curl -H "Authorization: Bearer baton_x" http://127.0.0.1:4400/api/v1/session',
    )
  })
})

test.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/155.0 Safari/537.36',
    'Chrome on Linux',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15',
    'Safari on a Mac',
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Windows'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1',
    'Safari on an iPhone',
  ],
  ['Mozilla/5.0 (Windows NT 10.0) Chrome/140.0 Safari/537.36 Edg/140.0', 'Edge on Windows'],
  ['a robot', 'a robot'],
  [null, 'An unknown program'],
])('a browser is named by what it says of itself: %s', (userAgent, words) => {
  expect(browserWords(userAgent)).toBe(words)
})

const SAVED: Limits = {
  ...{ minLeaseSeconds: 30, maxLeaseSeconds: 3600, maxConcurrentClaims: 100, maxGenerationsPerTask: 100 },
  ...{
    maxResultBytes: 10 * 1024 * 1024,
    maxActiveSessions: 50,
    claimHistoryRetentionDays: 90,
    lateResults: true,
  },
  ...{
    assignTimeoutSeconds: 120,
    stallTimeoutSeconds: null,
    verifyTimeoutSeconds: 180,
    hangGraceSeconds: 1800,
  },
  ...{ hangAbortSeconds: 600, branchRetentionDays: 30, timeZone: 'UTC', queueOrder: 'priority' },
}

describe('limits', () => {
  test('are sent as far as they differ, in the units of the API', () => {
    const { changes, problems } = changesIn(
      { maxResultBytes: '2', maxConcurrentClaims: '100', lateResults: 'false', stallTimeoutSeconds: '60' },
      SAVED,
    )
    expect(changes).toEqual({ maxResultBytes: 2 * 1024 * 1024, lateResults: false, stallTimeoutSeconds: 60 })
    expect(problems).toEqual({})
    expect(changesIn({ stallTimeoutSeconds: '' }, { ...SAVED, stallTimeoutSeconds: 5 }).changes).toEqual({
      stallTimeoutSeconds: null,
    })
  })

  test('that are no number are told before they are sent', () => {
    const { changes, problems } = changesIn({ maxLeaseSeconds: 'long', minLeaseSeconds: '' }, SAVED)
    expect([changes, Object.keys(problems).sort()]).toEqual([{}, ['maxLeaseSeconds', 'minLeaseSeconds']])
  })

  test('that are refused say so at their fields, and otherwise in the words of the page', () => {
    const errors = [{ field: 'maxConcurrentClaims', message: 'would be 1, and 2 are in use' }]
    const refused = Object.assign(new Error('no'), { code: 'VALIDATION_FAILED', errors })
    expect(refusalIn(refused)).toEqual({
      fields: { maxConcurrentClaims: 'It would be 1, and 2 are in use.' },
      rest: null,
    })
    expect(inWords('Widening maxActiveSessions needs the right "instance".')).toBe(
      'Widening “Workers at once” needs the right "instance".',
    )
    expect(refusalIn(null)).toEqual({ fields: {}, rest: null })
  })

  test('that somebody else changed are shown beside what is written here', () => {
    const theirs = { ...SAVED, maxConcurrentClaims: 80, queueOrder: 'shortest_first' } as const
    expect(differences(SAVED, theirs, { maxConcurrentClaims: '70' })).toEqual([
      {
        name: 'maxConcurrentClaims',
        words: 'Tasks held at once',
        before: '100 tasks',
        saved: '80 tasks',
        mine: '70',
      },
      {
        name: 'queueOrder',
        words: 'Order of the queue',
        before: 'by priority',
        saved: 'short tasks first',
        mine: null,
      },
    ])
    expect([limitText('stallTimeoutSeconds', null), shownIn('maxResultBytes', SAVED.maxResultBytes)]).toEqual(
      ['its lease', '10'],
    )
  })
})

test('a limit of many seconds is said in minutes and hours, too', () => {
  expect([unitText('s', '3600'), unitText('s', '30'), unitText('s', ''), unitText('tasks', '500')]).toEqual([
    's = 1 h',
    's',
    's',
    'tasks',
  ])
})
