import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { STATUS_COLORS } from '../../src/kinds/run/rules/status-colors.ts'
import { StatusMessage } from '../src/parts/status-message.tsx'

const drawn = (color: string | null | undefined) =>
  renderToStaticMarkup(createElement(StatusMessage, { message: 'Reads <files>', color }))

test('a status message is drawn in the hue of its colour', () => {
  const hues = { blue: 'go', green: 'done', yellow: 'ask', red: 'bad' }
  for (const [color, hue] of Object.entries(hues)) expect(drawn(color)).toContain(`class="text-${hue}"`)
  expect(new Set(STATUS_COLORS.map(drawn)).size).toBe(STATUS_COLORS.length)
})

test('any other name of a colour is drawn neutral, and never gets into the page', () => {
  const names = ['neutral', 'pink', '#ff0000', 'red;background:url(//x)', 'toString', '__proto__', '', null]
  for (const name of [...names, undefined]) expect(drawn(name)).toBe('Reads &lt;files&gt;')
})
