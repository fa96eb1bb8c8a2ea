import { expect } from 'vitest'

/** Reads the text format of Prometheus, strictly: what this takes, Prometheus takes. */

export interface Sample {
  name: string
  labels: Readonly<Record<string, string>>
  value: number
}

export interface Family {
  name: string
  type: string
  help: string
  samples: Sample[]
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*/
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"/
const VALUE = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)$/i
const SUFFIXES = { histogram: ['_bucket', '_sum', '_count'], summary: ['', '_sum', '_count'] }

export class Scraped {
  readonly families: ReadonlyMap<string, Family>

  constructor(text: string) {
    this.families = familiesIn(text)
    for (const family of this.families.values()) {
      expectNoDoubles(family)
      if (family.type === 'histogram') expectHistogram(family)
    }
  }

  /** The sum of the samples of this name that have these labels. */
  sum(name: string, labels: Record<string, string> = {}): number {
    return this.of(name, labels).reduce((sum, { value }) => sum + value, 0)
  }

  of(name: string, labels: Record<string, string> = {}): Sample[] {
    const all = [...this.families.values()].flatMap(({ samples }) => samples)
    const wanted = Object.entries(labels)
    return all.filter((one) => one.name === name && wanted.every(([key, value]) => one.labels[key] === value))
  }
}

function familiesIn(text: string): Map<string, Family> {
  expect(text.endsWith('\n'), 'the last line ends').toBe(true)
  const families = new Map<string, Family>()
  let family: Family | undefined
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, kind, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (kind === 'HELP') {
      expect(families.has(name!), `${name} comes once`).toBe(false)
      family = { name: name!, help: rest!, type: 'untyped', samples: [] }
      families.set(name!, family)
    } else if (kind === 'TYPE') family!.type = rest!
    else {
      const sample = sampleIn(line)
      const names = SUFFIXES[family!.type as 'histogram']?.map((suffix) => family!.name + suffix)
      expect(names ?? [family!.name], `${line} is below its own name`).toContain(sample.name)
      family!.samples.push(sample)
    }
  }
  return families
}

function sampleIn(line: string): Sample {
  const name = NAME.exec(line)?.[0] ?? ''
  let rest = line.slice(name.length)
  const labels: Record<string, string> = {}
  if (rest.startsWith('{')) {
    rest = rest.slice(1)
    while (!rest.startsWith('}')) {
      const found = LABEL.exec(rest)
      expect(found, `labels of ${line}`).not.toBeNull()
      labels[found![1]!] = JSON.parse(`"${found![2]}"`)
      rest = rest.slice(found![0].length).replace(/^,/, '')
    }
    rest = rest.slice(1)
  }
  const value = rest.trim()
  expect(name !== '' && VALUE.test(value), line).toBe(true)
  return { name, labels, value: Number(value.replace(/^\+?Inf$/i, 'Infinity')) }
}

function expectNoDoubles({ samples }: Family): void {
  const names = samples.map(({ name, labels }) => `${name} ${JSON.stringify(Object.entries(labels).sort())}`)
  expect(new Set(names).size).toBe(names.length)
}

/** Buckets only grow, and the last one counts all. */
function expectHistogram({ name, samples }: Family): void {
  const all = new Map<string, { buckets: number[]; bounds: number[]; count: number }>()
  for (const { name: of, labels, value } of samples) {
    const { le, ...rest } = labels
    const key = JSON.stringify(Object.entries(rest).sort())
    const one = all.get(key) ?? { buckets: [], bounds: [], count: 0 }
    all.set(key, one)
    if (of === `${name}_count`) one.count = value
    if (le === undefined) continue
    one.buckets.push(value)
    one.bounds.push(Number(le.replace('+Inf', 'Infinity')))
  }
  for (const { buckets, bounds, count } of all.values()) {
    expect(buckets, name).toEqual([...buckets].sort((a, b) => a - b))
    expect(bounds, name).toEqual([...bounds].sort((a, b) => a - b))
    expect(buckets.at(-1), name).toBe(count)
  }
}

/** Scrapes a server with the key of its owner, or another. */
export async function scrape(
  { url, ownerKey }: { url: string; ownerKey: string },
  key = ownerKey,
): Promise<Scraped> {
  return new Scraped(await textOf(`${url}/metrics`, key))
}

export async function textOf(url: string, key?: string): Promise<string> {
  const answer = await fetch(url, { headers: key ? { authorization: `Bearer ${key}` } : {} })
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return text
}
