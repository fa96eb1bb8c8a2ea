import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { STATUS_COLORS } from '../../src/kinds/run/rules/status-colors.ts'
import { statusHue } from '../src/theme/status-colours.ts'

/** Reads the style sheet itself, so that no change makes text unreadable. */

type Rgb = [number, number, number]
type Theme = 'light' | 'dark'
const THEMES: Theme[] = ['light', 'dark']
const HUES = ['wait', 'go', 'ask', 'held', 'done', 'bad']

const css = readFileSync(join(import.meta.dirname, '../src/theme/themes.css'), 'utf8')
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name, light, dark]) => [name!, { light: light!, dark: dark! }],
  ),
)

function colour(name: string, theme: Theme): Rgb {
  const found = tokens.get(name)
  if (!found) throw new Error(`There is no token ${name}.`)
  return [1, 3, 5].map((at) => Number.parseInt(found[theme].slice(at, at + 2), 16) / 255) as Rgb
}

const linear = (channel: number) =>
  channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
const luminance = (rgb: Rgb) => {
  const [r, g, b] = rgb.map(linear) as Rgb
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

function contrast(text: string, ground: string, theme: Theme): number {
  const [a, b] = [text, ground].map((name) => luminance(colour(name, theme))) as [number, number]
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

const GROUNDS = ['bg', 'sunken', 'raised', 'hover']
const names = (start: string) => [...tokens.keys()].filter((name) => name.startsWith(start))

describe.each(THEMES)('in the %s theme', (theme) => {
  test('all text is readable on every ground', () => {
    for (const text of ['ink', 'muted', 'faint', 'accent', ...HUES])
      for (const ground of GROUNDS)
        expect(contrast(text, ground, theme), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5)
  })

  test('every colour of a status message is readable on every ground, and neutral is none of them', () => {
    const hues = STATUS_COLORS.map(statusHue)
    expect(hues).toEqual([null, 'go', 'done', 'ask', 'bad'])
    for (const hue of hues.filter((one) => one !== null))
      for (const ground of GROUNDS)
        expect(contrast(hue, ground, theme), `${hue} on ${ground}`).toBeGreaterThanOrEqual(4.5)
  })

  test('the smallest text keeps the contrasts of the design', () => {
    const least =
      theme === 'light'
        ? { muted: 6.48, faint: 4.77, accent: 6.4 }
        : { muted: 7.2, faint: 5.28, accent: 7.14 }
    for (const [text, ratio] of Object.entries(least))
      expect(contrast(text, 'hover', theme), text).toBeGreaterThanOrEqual(ratio)
  })

  test('hues are readable on their tints, and what is cut out of a mark is seen', () => {
    for (const hue of HUES) {
      expect(contrast(hue, `${hue}-tint`, theme), hue).toBeGreaterThanOrEqual(4.5)
      expect(contrast('bg', hue, theme), `bg on ${hue}`).toBeGreaterThanOrEqual(4.5)
    }
  })

  test('fields and controls have an edge', () => {
    for (const ground of GROUNDS) expect(contrast('edge', ground, theme), ground).toBeGreaterThanOrEqual(3)
  })

  test('monograms of agents are readable on their tiles', () => {
    const agents = names('agent-').filter((name) => !name.endsWith('-tint'))
    expect(agents).toHaveLength(8)
    for (const agent of agents)
      expect(contrast(agent, `${agent}-tint`, theme), agent).toBeGreaterThanOrEqual(4.5)
  })

  test('terminal colours are readable in logs', () => {
    const ansi = names('ansi-')
    expect(ansi).toHaveLength(9)
    for (const name of ansi) expect(contrast(name, 'sunken', theme), name).toBeGreaterThanOrEqual(5.1)
  })

  test('any two hues differ, also for people who do not see all colours', () => {
    const least =
      theme === 'light'
        ? { normal: 32, protanopia: 21, deuteranopia: 19, tritanopia: 21 }
        : { normal: 29, protanopia: 24, deuteranopia: 23, tritanopia: 23.9 }
    for (const [sight, distance] of Object.entries(least))
      expect(smallestDistance(theme, sight as Sight), sight).toBeGreaterThanOrEqual(distance)
  })
})

type Sight = keyof typeof SIGHTS

/** Machado, Oliveira and Fernandes 2009, severity 1. */
const SIGHTS = {
  normal: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopia: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopia: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
  tritanopia: [1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.3039],
}

function seen(rgb: Rgb, sight: Sight): Rgb {
  const matrix = SIGHTS[sight]
  const [r, g, b] = rgb.map(linear) as Rgb
  return [0, 3, 6].map((row) =>
    Math.min(1, Math.max(0, matrix[row]! * r + matrix[row + 1]! * g + matrix[row + 2]! * b)),
  ) as Rgb
}

/** CIE Lab under D65, from linear light. */
function lab([r, g, b]: Rgb): Rgb {
  const x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047
  const y = 0.2126729 * r + 0.7151522 * g + 0.072175 * b
  const z = (0.0193339 * r + 0.119192 * g + 0.9503041 * b) / 1.08883
  const [fx, fy, fz] = [x, y, z].map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)) as Rgb
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)]
}

function smallestDistance(theme: Theme, sight: Sight): number {
  const points = HUES.map((hue) => lab(seen(colour(hue, theme), sight)))
  const distances = points.flatMap((a, i) =>
    points.slice(i + 1).map((b) => Math.hypot(...a.map((x, k) => x - b[k]!))),
  )
  return Math.min(...distances)
}
