import { METRIC_LIST } from '../../src/metrics/catalogue.ts'
import { ALERT_RULES } from './alert-rules.ts'
import { code, codes, fenced, madeFrom, page, table } from './markdown.ts'

const SOURCES = 'src/metrics/catalogue.ts and scripts/docs/alert-rules.ts'

const MADE_KEY = `curl -X POST -H "Authorization: Bearer $OWNER_KEY" -H 'content-type: application/json' \\
  -d '{"name":"prometheus","role":"viewer","scopes":["metrics"]}' http://127.0.0.1:4400/api/v1/keys`

const SCRAPE = `scrape_configs:
  - job_name: baton
    scrape_interval: 15s
    authorization:
      credentials_file: /etc/prometheus/baton-key
    static_configs:
      - targets: ['node-1:4400', 'node-2:4400']
rule_files:
  - baton-rules.yml`

const rowsOf = (of: 'node' | 'cluster') =>
  METRIC_LIST.filter(([, metric]) => metric.of === of).map(([name, { type, labels, help, buckets }]) => [
    code(name),
    buckets ? `${type} (${buckets.join(', ')})` : type,
    codes(labels),
    help,
  ])

export function metricsPage(): string {
  const fromDocuments = METRIC_LIST.flatMap(([name, { was }]) =>
    (was?.split('; ') ?? []).map((one) => [one, code(name)]),
  )
  return page(
    madeFrom(SOURCES),
    '# Metrics',
    'Each node serves its metrics at `GET /metrics`, in the text format of Prometheus: at the root, as Prometheus expects, and below `/api/v1`.',
    '## Who may read them',
    'They are about all workspaces, so they need the right `metrics`. The key of whoever runs the server has it, and so has a key with the scope `metrics`, which only a key with the right `instance` can create:',
    fenced('sh', MADE_KEY),
    '`BATON_METRICS_PORT` serves them without a key on a port of its own, on 127.0.0.1 only. Everybody on the machine can read them there.',
    '## Scraping',
    'Every node is scraped by itself, not through a load balancer. A node counts what it did itself, so a sum over nodes is right, also after one of them was restarted. What is about all nodes is on the node that coordinates, and on no other; it is read when it is scraped, and at most ten seconds old.',
    fenced('yaml', SCRAPE),
    'The alert rules are in [deploy/prometheus/baton-rules.yml](../deploy/prometheus/baton-rules.yml), a dashboard for Grafana is in [deploy/grafana/baton.json](../deploy/grafana/baton.json).',
    '## Labels',
    '`workspace` is the id of a workspace; `baton_workspace_info` has its name. `project` is the slug of a project, and empty for work without one. Only the oldest 100 workspaces and the oldest 100 projects have series of their own; the rest is `other`. `BATON_METRICS_LABELS` is another number, at most 1000. `node` and `instance` are the labels of Prometheus for a node.',
    'What is counted was committed: a transaction that was tried several times counts once, and a request that is repeated under its `Idempotency-Key` does not count again. A commit whose acknowledgement was lost with the connection is not counted.',
    '## Of each node',
    table(['metric', 'type (buckets)', 'labels', 'what it says'], rowsOf('node')),
    'Beside them are those of the process, as every program on Node.js has them: `process_cpu_seconds_total`, `process_resident_memory_bytes`, `nodejs_eventloop_lag_p99_seconds`, `nodejs_gc_duration_seconds` and others. They are measured from the first scrape on.',
    '## Of all nodes together',
    table(['metric', 'type (buckets)', 'labels', 'what it says'], rowsOf('cluster')),
    '## Names in other documents',
    table(['there', 'here'], fromDocuments),
    '## Runbook',
    'One paragraph for each alert rule.',
    ...ALERT_RULES.flatMap(({ name, expr, severity, runbook, for: time }) => [
      `### ${name}`,
      `${severity === 'critical' ? 'Critical' : 'Warning'}: ${code(expr)}${time ? ` for ${time}` : ''}.`,
      runbook,
    ]),
  )
}
