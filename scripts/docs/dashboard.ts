/** The Grafana dashboard deploy/grafana/baton.json, made from a list of its panels. */

interface Panel {
  title: string
  /** A query, or several with their legends. */
  queries: readonly (readonly [expr: string, legend: string])[]
  unit?: 'short' | 's' | 'ops' | 'currencyUSD' | 'percentunit'
  isStat?: true
}

const IN = 'workspace=~"$workspace"'
const perSecond = (metric: string, by: string, more = '') =>
  `sum by (${by}) (rate(${metric}{${IN}${more}}[$__rate_interval]))`
const quantile = (metric: string, q: number, selector = `{${IN}}`) =>
  `histogram_quantile(${q}, sum by (le) (rate(${metric}_bucket${selector}[$__rate_interval])))`

const ROWS: readonly (readonly [title: string, panels: readonly Panel[]])[] = [
  [
    'Now',
    [
      { title: 'Active claims', isStat: true, queries: [[`sum(baton_active_claims{${IN}})`, 'held']] },
      { title: 'Pending tasks', isStat: true, queries: [[`sum(baton_pending_tasks{${IN}})`, 'pending']] },
      {
        title: 'Completed tasks',
        isStat: true,
        queries: [[`sum(baton_completed_tasks{${IN}})`, 'completed']],
      },
      {
        title: 'Queue age',
        isStat: true,
        unit: 's',
        queries: [[`max(baton_queue_age_seconds{${IN}})`, 'oldest']],
      },
      { title: 'Runs', isStat: true, queries: [['sum(baton_runs_active)', 'active']] },
      { title: 'Nodes', isStat: true, queries: [['sum by (state) (baton_nodes)', '{{state}}']] },
    ],
  ],
  [
    'Work',
    [
      { title: 'Tasks by state', queries: [[`sum by (state) (baton_tasks{${IN}})`, '{{state}}']] },
      {
        title: 'Tasks',
        unit: 'ops',
        queries: [
          [perSecond('baton_tasks_created_total', 'project'), 'created {{project}}'],
          [perSecond('baton_tasks_failed_total', 'project'), 'failed {{project}}'],
        ],
      },
      {
        title: 'Time to completion',
        unit: 's',
        queries: [
          [quantile('baton_task_completion_time_seconds', 0.5), 'half'],
          [quantile('baton_task_completion_time_seconds', 0.95), '95 %'],
        ],
      },
      {
        title: 'Claims per task',
        queries: [
          [quantile('baton_generations_per_task', 0.5), 'half'],
          [quantile('baton_generations_per_task', 0.95), '95 %'],
        ],
      },
      {
        title: 'Missions ended',
        unit: 'ops',
        queries: [[perSecond('baton_missions_ended_total', 'state'), '{{state}}']],
      },
      {
        title: 'Dead letters in an hour',
        queries: [
          [`sum by (project) (increase(baton_tasks_retry_exhausted_total{${IN}}[1h]))`, '{{project}}'],
        ],
      },
    ],
  ],
  [
    'Claims',
    [
      { title: 'Claims', unit: 'ops', queries: [[perSecond('baton_claims_total', 'result'), '{{result}}']] },
      {
        title: 'Results',
        unit: 'ops',
        queries: [[perSecond('baton_results_total', 'result'), '{{result}}']],
      },
      {
        title: 'Renewals',
        unit: 'ops',
        queries: [[perSecond('baton_lease_renewals_total', 'result'), '{{result}}']],
      },
      {
        title: 'Expired leases, and stale writes refused',
        unit: 'ops',
        queries: [
          [perSecond('baton_lease_expirations_total', 'project'), 'expired {{project}}'],
          [perSecond('baton_stale_writes_refused_total', 'code'), '{{code}}'],
        ],
      },
      {
        title: 'How long claims are held',
        unit: 's',
        queries: [
          [quantile('baton_claim_duration_seconds', 0.5), 'half'],
          [quantile('baton_claim_duration_seconds', 0.95), '95 %'],
        ],
      },
      {
        title: 'Generations raised',
        unit: 'ops',
        queries: [[perSecond('baton_generation_increments_total', 'project'), '{{project}}']],
      },
    ],
  ],
  [
    'Agents and runs',
    [
      { title: 'Agents by state', queries: [[`sum by (state) (baton_agents{${IN}})`, '{{state}}']] },
      { title: 'Stale agents', queries: [[`sum(baton_coordinator_stale_agents{${IN}})`, 'stale']] },
      {
        title: 'Runs',
        unit: 'ops',
        queries: [
          [perSecond('baton_runs_started_total', 'adapter'), 'started {{adapter}}'],
          [perSecond('baton_runs_ended_total', 'status'), '{{status}}'],
        ],
      },
      {
        title: 'Length of runs',
        unit: 's',
        queries: [[quantile('baton_run_duration_seconds', 0.95, ''), '95 %']],
      },
      { title: 'Tokens', unit: 'ops', queries: [[perSecond('baton_tokens_total', 'kind'), '{{kind}}']] },
      {
        title: 'Dollars in an hour',
        unit: 'currencyUSD',
        queries: [
          [`sum by (project, basis) (increase(baton_cost_usd_total{${IN}}[1h]))`, '{{project}} {{basis}}'],
        ],
      },
    ],
  ],
  [
    'Servers',
    [
      {
        title: 'Requests',
        unit: 'ops',
        queries: [
          [
            'sum by (status) (rate(baton_http_request_duration_seconds_count[$__rate_interval]))',
            '{{status}}',
          ],
        ],
      },
      {
        title: 'Slowest routes (95 %)',
        unit: 's',
        queries: [
          [
            'topk(5, histogram_quantile(0.95, sum by (le, route) (rate(baton_http_request_duration_seconds_bucket[$__rate_interval]))))',
            '{{route}}',
          ],
        ],
      },
      {
        title: 'Passes of the coordinator',
        unit: 's',
        queries: [[quantile('baton_coordinator_cycle_duration_seconds', 0.95, ''), '95 %']],
      },
      {
        title: 'Event loop',
        unit: 's',
        queries: [['max by (instance) (nodejs_eventloop_lag_p99_seconds)', '{{instance}}']],
      },
      {
        title: 'Database connections',
        queries: [['sum by (pool, state) (baton_database_connections)', '{{pool}} {{state}}']],
      },
      {
        title: 'Database errors, and followers behind',
        queries: [
          ['sum(increase(baton_database_errors_total[5m]))', 'errors in 5 minutes'],
          ['max by (follower) (baton_follower_lag_events)', '{{follower}} behind'],
        ],
      },
      { title: 'Memory', queries: [['process_resident_memory_bytes', '{{instance}}']] },
      { title: 'Leader', queries: [['baton_coordinator_leads', '{{instance}}']] },
      {
        title: 'Versions',
        queries: [['count by (version) (baton_build_info)', '{{version}}']],
      },
    ],
  ],
]

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana, which it fills in itself.
const SOURCE = { type: 'prometheus', uid: '${datasource}' }
const COLUMNS = 24
const HEIGHT = { stat: 4, timeseries: 8 }
const WIDTH = { stat: 4, timeseries: 8 }

export function dashboard(): string {
  const panels: object[] = []
  let y = 0
  for (const [title, own] of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    })
    y += 1
    let x = 0
    let height = 0
    for (const { title, queries, unit = 'short', isStat } of own) {
      const type = isStat ? 'stat' : 'timeseries'
      if (x + WIDTH[type] > COLUMNS) {
        x = 0
        y += height
      }
      height = HEIGHT[type]
      panels.push({
        id: panels.length + 1,
        ...{ type, title, datasource: SOURCE },
        gridPos: { x, y, w: WIDTH[type], h: height },
        fieldConfig: { defaults: { unit }, overrides: [] },
        targets: queries.map(([expr, legendFormat], i) => ({
          ...{ refId: String.fromCharCode(65 + i), datasource: SOURCE, expr, legendFormat },
        })),
      })
      x += WIDTH[type]
    }
    y += height
  }
  const variable = { hide: 0, refresh: 2, skipUrlSync: false }
  const whole = {
    ...{ title: 'Baton', uid: 'baton', tags: ['baton'], schemaVersion: 39, version: 1, editable: true },
    ...{
      timezone: 'browser',
      refresh: '30s',
      time: { from: 'now-6h', to: 'now' },
      annotations: { list: [] },
    },
    templating: {
      list: [
        { ...variable, name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
        {
          ...variable,
          ...{
            name: 'workspace',
            label: 'Workspace',
            type: 'query',
            datasource: SOURCE,
            includeAll: true,
            multi: true,
          },
          ...{ allValue: '.*', current: { text: 'All', value: '$__all' } },
          query: { query: 'query_result(baton_workspace_info)', refId: 'workspaces' },
          regex: '/name="(?<text>[^"]+).*workspace="(?<value>[^"]+)/',
        },
      ],
    },
    panels,
  }
  return `${JSON.stringify(whole, null, 2)}\n`
}
