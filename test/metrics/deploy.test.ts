import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { METRIC_LIST, METRICS } from '../../src/metrics/catalogue.ts'
import { instruments } from '../../src/metrics/registry.ts'
import { useServer } from '../support/http-workspace.ts'
import { textOf } from '../support/prometheus.ts'

/** Dashboard, rules and documentation, against the metrics there are. */

const { served } = useServer()
const root = resolve(import.meta.dirname, '../..')
const file = (path: string) => readFileSync(join(root, path), 'utf8')

const Rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          expr: z.string(),
          labels: z.object({ severity: z.enum(['critical', 'warning']) }),
          annotations: z.object({ summary: z.string(), runbook: z.string() }),
        }),
      ),
    }),
  ),
})
const Dashboard = z.object({
  panels: z.array(
    z.object({ type: z.string(), targets: z.array(z.object({ expr: z.string() })).optional() }),
  ),
})
const rules = Rules.parse(parse(file('deploy/prometheus/baton-rules.yml'))).groups.flatMap((one) => one.rules)
const queries = Dashboard.parse(JSON.parse(file('deploy/grafana/baton.json'))).panels.flatMap(
  ({ targets = [] }) => targets.map(({ expr }) => expr),
)

/** Metrics of other programs that expressions may use. */
const OF_OTHERS = ['up', 'nodejs_eventloop_lag_p99_seconds', 'process_resident_memory_bytes']
const OF_HISTOGRAM = /_(bucket|sum|count)$/

function expectKnown(expr: string): void {
  const names = expr.match(/\b(?:baton|nodejs|process)_\w+|\bup\b/g) ?? []
  expect(names.length, expr).toBeGreaterThan(0)
  for (const name of names) {
    const metric = METRICS[name.replace(OF_HISTOGRAM, '') as keyof typeof METRICS]
    const isSeries = metric && OF_HISTOGRAM.test(name) === (metric.type === 'histogram')
    expect(isSeries || OF_OTHERS.includes(name), `${name} in ${expr}`).toBe(true)
  }
  for (const [, labels] of expr.matchAll(/by \(([^)]*)\)/g))
    for (const label of labels!.split(',').map((one) => one.trim()))
      expect(LABELS, `${label} in ${expr}`).toContain(label)
}
const LABELS = ['le', 'instance', ...METRIC_LIST.flatMap(([, { labels }]) => labels)]

test('every metric of the documents has a name here, and the documentation has all of them', () => {
  const page = file('docs/metrics.md')
  for (const [name, { help, was = '' }] of METRIC_LIST)
    for (const text of [`\`${name}\``, help, ...was.split('; ')]) expect(page).toContain(text)
  const was = METRIC_LIST.map(([, metric]) => metric.was).join('; ')
  expect(was.match(/coditect_\w+/g)).toHaveLength(11)
  expect(was.match(/Mosaic [\w.]+/g)).toHaveLength(7)
})

test('every expression of the dashboard and of the rules asks for metrics and labels that exist', () => {
  for (const expr of [...queries, ...rules.map((rule) => rule.expr)]) expectKnown(expr)
  expect(queries.length).toBeGreaterThan(30)
})

test('every metric is on the dashboard or in a rule', () => {
  const used = [...queries, ...rules.map((rule) => rule.expr)].join(' ')
  for (const [name] of METRIC_LIST.filter(([name]) => name !== 'baton_workspace_info'))
    expect(used).toContain(name)
})

test('every alert names a paragraph of the runbook that exists', () => {
  const page = file('docs/metrics.md')
  const anchors = [...page.matchAll(/^### (\w+)$/gm)].map(
    ([, name]) => `docs/metrics.md#${name!.toLowerCase()}`,
  )
  expect(rules.map(({ annotations }) => annotations.runbook)).toEqual(anchors)
})

/** The thresholds of Mosaic's table. */
test.each([
  ['BatonCoordinatorSlow', '> 5'],
  ['BatonStaleAgents', '> 5'],
  ['BatonPendingTasks', '> 50'],
  ['BatonTasksFailed', '> 10'],
  ['BatonRetriesExhausted', '> 0'],
  ['BatonSpawnRate', '> 100'],
  ['BatonDatabaseErrors', '> 0'],
])('%s has the threshold of its document: %s', (name, threshold) => {
  expect(rules.find(({ alert }) => alert === name)!.expr.endsWith(threshold)).toBe(true)
})

const promtool = process.env.BATON_PROMTOOL ?? 'promtool'
const hasPromtool = spawnSync(promtool, ['--version']).status === 0

describe.skipIf(!hasPromtool)(
  'promtool (skipped where the Debian package prometheus is not installed)',
  () => {
    test('takes the rules', () => {
      const said = execFileSync(promtool, ['check', 'rules', join(root, 'deploy/prometheus/baton-rules.yml')])
      expect(said.toString()).toContain(`SUCCESS: ${rules.length} rules found`)
    })

    test('reads what a server answers, and has nothing against its metrics', async () => {
      const { registry } = instruments()
      const text = await textOf(`${served().url}/metrics`, served().ownerKey)
      const { status, stdout, stderr } = spawnSync(promtool, ['check', 'metrics'], { input: text })
      // 3: it was read, and a name is not as it should be. Those of the process are not ours.
      expect([0, 3], `${stderr}`).toContain(status)
      expect(`${stdout}${stderr}`.split('\n').filter((line) => line.startsWith('baton_'))).toEqual([])
      const plain = spawnSync(promtool, ['check', 'metrics'], { input: await registry.metrics() })
      expect([plain.status, `${plain.stdout}${plain.stderr}`]).toEqual([0, ''])
    })

    test('takes every expression of the dashboard', () => {
      const recorded = queries.map((expr, i) => ({
        record: `dashboard:${i}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$workspace', '.*'),
      }))
      const path = join(inject('scratch'), 'dashboard-rules.yml')
      writeFileSync(path, stringify({ groups: [{ name: 'dashboard', rules: recorded }] }))
      const { status, stdout, stderr } = spawnSync(promtool, ['check', 'rules', path])
      expect(status, `${stderr}`).toBe(0)
      expect(`${stdout}`).toContain(`${queries.length} rules found`)
    })
  },
)
