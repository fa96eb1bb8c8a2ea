import { describe, expect, test } from 'vitest'
import { isSingleKey, matchStrokes, strokeName } from '../src/keys/keystrokes.ts'
import { type Shortcuts, usableByPlace } from '../src/keys/shortcuts.ts'

const pressed = (key: string, held: Partial<Parameters<typeof strokeName>[0]> = {}) =>
  strokeName({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...held })

describe('a stroke has one name', () => {
  test('whatever the keyboard and the caps lock', () => {
    expect(pressed('x')).toBe('x')
    expect(pressed('X')).toBe('x')
    expect(pressed('X', { shiftKey: true })).toBe('Shift+x')
    expect(pressed(' ')).toBe('Space')
    expect(pressed('Escape')).toBe('Esc')
  })

  test('with Ctrl on one machine and the command key on another', () => {
    expect(pressed('k', { ctrlKey: true })).toBe('Mod+k')
    expect(pressed('k', { metaKey: true })).toBe('Mod+k')
    expect(pressed('Enter', { ctrlKey: true })).toBe('Mod+Enter')
  })

  test('and a sign is the sign, with or without Shift', () => {
    expect(pressed('?', { shiftKey: true })).toBe('?')
    expect(pressed('?')).toBe('?')
    expect(pressed('ArrowDown', { shiftKey: true })).toBe('Shift+ArrowDown')
  })

  test('and a modifier alone has none', () => {
    for (const key of ['Shift', 'Control', 'Meta', 'Alt', 'Dead']) expect(pressed(key)).toBeNull()
  })
})

test('keys that can be switched off are those of a single sign, also in a row', () => {
  for (const keys of ['x', 'Shift+x', '?', 'g i', '$']) expect(isSingleKey(keys), keys).toBe(true)
  for (const keys of ['Mod+k', 'Enter', 'Esc', 'Space', 'Alt+x', 'ArrowDown', 'Del'])
    expect(isSingleKey(keys), keys).toBe(false)
})

test('strokes complete a binding, begin one, or are nothing', () => {
  const bound = ['x', 'g i', 'g b']
  expect(matchStrokes(['x'], bound)).toEqual({ complete: 'x', isBegun: false })
  expect(matchStrokes(['g'], bound)).toEqual({ complete: null, isBegun: true })
  expect(matchStrokes(['g', 'b'], bound)).toEqual({ complete: 'g b', isBegun: false })
  expect(matchStrokes(['g', 'x'], bound)).toEqual({ complete: null, isBegun: false })
})

test('the help shows each place once, each key where it acts, and no place without keys', () => {
  const key = (words: string, isOff = false) => ({ words, isOff, run: () => {} })
  const places: { where: string; shortcuts: Shortcuts }[] = [
    { where: 'Board', shortcuts: { p: key('Pause') } },
    { where: 'Priority', shortcuts: { 1: key('Lowest', true) } },
    { where: 'Page', shortcuts: { p: key('Print'), '?': key('Help') } },
    { where: 'Board', shortcuts: { j: key('Down') } },
  ]
  const shown = usableByPlace(places).map(({ where, shortcuts }) => [where, Object.keys(shortcuts)])
  expect(shown).toEqual([
    ['Board', ['p', 'j']],
    ['Page', ['?']],
  ])
})
