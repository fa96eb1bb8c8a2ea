import { describe, expect, test } from 'vitest'
import { tokenIn, wayBack } from '../src/pages/sign-in/address.ts'
import { param, parseSearch, readSearch, writeSearch } from '../src/search-params.ts'

const TABLE = {
  view: param.oneOf(['kanban', 'list']),
  q: param.text,
  at: param.wholeNumber,
  state: param.list,
  failed: param.flag,
}

describe('the address of a page', () => {
  test('comes back as it was written', () => {
    const search = {
      view: 'list' as const,
      q: 'a & b=c, ü',
      at: 1_204,
      state: ['queued', 'running'],
      failed: true,
    }
    const text = writeSearch(search)
    expect(text).toContain('state=queued,running')
    expect(readSearch(TABLE, parseSearch(text))).toEqual({ search, dropped: [] })
  })

  test('is empty when nothing is chosen', () => {
    expect(writeSearch({ q: undefined, view: null, failed: false })).toBe('')
  })

  test('keeps what it knows, and names what it drops', () => {
    const raw = parseSearch('?view=circle&q=login&colour=red&at=-1&failed=yes')
    const { search, dropped } = readSearch(TABLE, raw)
    expect(search).toEqual({ q: 'login' })
    expect(dropped.sort()).toEqual(['at', 'colour', 'failed', 'view'])
  })
})

describe('the address of the sign-in page', () => {
  const workspace = '/w/0198f3a2'

  test('has the token in its fragment', () => {
    expect(tokenIn('#abc')).toBe('abc')
    expect(tokenIn('#')).toBeNull()
    expect(tokenIn('')).toBeNull()
  })

  test('leads back into the workspace that was signed in to, and nowhere else', () => {
    expect(wayBack('/w/0198f3a2/board?q=a', workspace)).toBe('/w/0198f3a2/board?q=a')
    for (const elsewhere of [
      null,
      '/w/0198f3a2x/board',
      '/w/other',
      '//evil.example',
      'https://evil.example/w/0198f3a2/',
    ])
      expect(wayBack(elsewhere, workspace), String(elsewhere)).toBe(workspace)
  })
})
