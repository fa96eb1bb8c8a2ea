import { expect, test } from 'vitest'
import { afterSgr, classesOf, PLAIN } from '../src/logs/ansi.ts'
import { divided, placesOf } from '../src/logs/found.ts'
import { LONGEST_SHOWN, plainText, settled, shownOf } from '../src/logs/settle.ts'
import { linesOfLog, RECORDED } from './recorded-log.ts'

const ESC = '\u001b'
const shown = (raw: string) => settled(raw).map(({ text, classes, href }) => [text, classes, href])

test('a recorded log reads as a terminal would show it', () => {
  expect(linesOfLog(RECORDED).map(({ raw }) => plainText(raw))).toEqual([
    'Started /usr/bin/agent',
    '✔ installed in 3 s',
    'Downloading 100 %',
    'warning: deprecated',
    'npm ERR! code ',
    '{"type":"assistant","text":"Grüße, 世界 🚀"}',
    'E404',
    '',
    'see the docs now',
    'built',
    '<img src=x onerror=alert(1)> gnp.eשלום عالم 👩‍👩‍👧 end',
    'no line end',
  ])
})

test('carriage returns, backspaces and erased parts are settled as on a terminal', () => {
  const cases: [string, string][] = [
    ['50 %\r100 %', '100 %'],
    ['longer text\rshort', 'shortr text'],
    [`longer text\rshort${ESC}[K`, 'short'],
    [`all gone${ESC}[2K`, ''],
    [`abcdef${ESC}[3D${ESC}[1K`, '    ef'],
    ['abc\b\bX', 'aXc'],
    ['\b\b\babc', 'abc'],
    [`ab${ESC}[5Gc`, 'ab  c'],
    [`a${ESC}[3Cb`, 'a   b'],
    ['ends with a return\r', 'ends with a return'],
    ['tab\there', 'tab\there'],
  ]
  for (const [raw, text] of cases) expect(plainText(raw), JSON.stringify(raw)).toBe(text)
})

test('colours become classes of the theme, and end with the line', () => {
  expect(shown(`${ESC}[31mred${ESC}[0m plain`)).toEqual([
    ['red', 'ansi-1', null],
    [' plain', '', null],
  ])
  expect(shown(`${ESC}[1;4;33;41mloud`)).toEqual([['loud', 'ansi-3 ansi-bg-1 font-semibold underline', null]])
  expect(shown(`${ESC}[91mbright${ESC}[39;49;22m none`)).toEqual([
    ['bright', 'ansi-9', null],
    [' none', '', null],
  ])
  expect(shown(`${ESC}[7mturned`)).toEqual([['turned', 'bg-ink text-bg', null]])
  expect(shown(`${ESC}[7;32mturned`)).toEqual([['turned', 'ansi-2 ansi-bg-2', null]])
})

test('256 and true colours become the colour of the same hue', () => {
  const ink = (parameters: string) => afterSgr(PLAIN, parameters).ink
  expect([ink('38;5;196'), ink('38;5;46'), ink('38;5;21'), ink('38;5;226')]).toEqual([1, 2, 4, 3])
  expect([ink('38;5;9'), ink('38;5;232'), ink('38;5;255'), ink('38:5:51')]).toEqual([9, 0, 7, 6])
  expect([ink('38;2;255;0;128'), ink('38;2;250;150;20'), ink('38;2;128;128;130')]).toEqual([5, 3, 8])
  expect([ink('38;5;999'), ink('38;2;1;2'), ink('38'), ink('38;2;300;0;0')]).toEqual([null, null, null, null])
  expect(classesOf(afterSgr(PLAIN, '48;5;196'))).toBe('ansi-bg-1')
})

test('links lead to the web or are text', () => {
  const link = (address: string) => `${ESC}]8;;${address}\u0007here${ESC}]8;;${ESC}\\`
  expect(shown(link('https://example.com/x'))).toEqual([['here', '', 'https://example.com/x']])
  for (const address of [
    'javascript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'https://',
    ' https://a',
  ])
    expect(shown(link(address)), address).toEqual([['here', '', null]])
})

test('every other sequence is removed, and one that does not end hides nothing', () => {
  const cases: [string, string][] = [
    [`${ESC}[?25l${ESC}[3Ja${ESC}[10;20Hb${ESC}(Bc${ESC}=d${ESC}7`, 'abcd'],
    [`${ESC}]0;title\u0007x${ESC}P1;2|dcs${ESC}\\y`, 'xy'],
    [`${ESC}]0;never ends`, '0;never ends'],
    [`text${ESC}[12`, 'text'],
    [`text${ESC}`, 'text'],
    ['a\u0000b\u0007c\u007fd\u009be\u202ef\u2066g', 'abcdefg'],
  ]
  for (const [raw, text] of cases) expect(plainText(raw), JSON.stringify(raw)).toBe(text)
})

test('a program that moves its cursor far away makes no long line', () => {
  expect(plainText(`a${ESC}[999999999Cb`).length).toBeLessThanOrEqual(1_001)
  expect(plainText(`${ESC}[999999999Gx`.repeat(1_000)).length).toBeLessThanOrEqual(2_001)
})

test('a long line is cut until the reader asks for all of it', () => {
  const raw = 'x'.repeat(1_200_000)
  const cut = shownOf(raw, false)
  expect(cut.isCut).toBe(true)
  expect(cut.runs.reduce((sum, { text }) => sum + text.length, 0)).toBe(LONGEST_SHOWN)
  expect(shownOf(raw, true)).toEqual({ runs: [{ text: raw, classes: '', href: null }], isCut: false })
  expect(shownOf('x'.repeat(LONGEST_SHOWN), false).isCut).toBe(false)
  expect(shownOf(`${'x'.repeat(LONGEST_SHOWN)}y`, false).isCut).toBe(true)
})

test('a progress bar that was drawn a million times is one short line', () => {
  const raw = Array.from({ length: 100_000 }, (_, at) => `progress ${at}`).join('\r')
  expect(shownOf(raw, false)).toEqual({
    runs: [{ text: 'progress 99999', classes: '', href: null }],
    isCut: false,
  })
})

test('hostile lines are settled in time that grows with their length only', () => {
  for (const bomb of [
    `${ESC}]`,
    `${ESC}[`,
    `${ESC}[31m`,
    `${ESC}P`,
    `${ESC}[38;5;`,
    '\b',
    `x\r`,
    `${ESC}]8;;`,
  ]) {
    const started = performance.now()
    shownOf(bomb.repeat(60_000 / bomb.length), false)
    // A quadratic algorithm takes minutes for this; a linear one a few milliseconds, even on a busy machine.
    expect(performance.now() - started, JSON.stringify(bomb)).toBeLessThan(5_000)
  }
})

test('found text is marked across colours', () => {
  const runs = settled(`ab${ESC}[31mcd${ESC}[0mef`)
  const places = placesOf('abcdef', 'BCDE', false)
  expect(places).toEqual([{ from: 1, to: 5 }])
  expect(divided(runs, places).map(({ text, isFound }) => [text, isFound])).toEqual([
    ['a', false],
    ['b', true],
    ['cd', true],
    ['e', true],
    ['f', false],
  ])
  expect(placesOf('abcdef', 'BCDE', true)).toEqual([])
  expect(placesOf('aaaa', 'aa', true)).toHaveLength(2)
  expect(placesOf('anything', '', true)).toEqual([])
})
