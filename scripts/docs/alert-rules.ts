import { stringify } from 'yaml'

/** The alert rules for Prometheus: deploy/prometheus/baton-rules.yml and the runbook in docs/metrics.md are made from these. */

interface AlertRule {
  name: string
  expr: string
  /** How long it must be so. */
  for?: string
  severity: 'critical' | 'warning'
  summary: string
  /** What to look at, and what to do. */
  runbook: string
}

export const ALERT_RULES: readonly AlertRule[] = [
  {
    name: 'BatonDown',
    expr: 'up{job="baton"} == 0',
    for: '2m',
    severity: 'critical',
    summary: 'Prometheus cannot scrape {{ $labels.instance }}.',
    runbook:
      'Look whether the process runs and answers `GET /health/live`. A key that was revoked or has expired looks the same: the scrape is then answered 401 or 403. Other nodes take over what the node coordinated within seconds, and its runs within 30 seconds.',
  },
  {
    name: 'BatonNoLeader',
    expr: '(sum(baton_coordinator_leads) or vector(0)) == 0',
    for: '1m',
    severity: 'critical',
    summary: 'No node coordinates: leases do not expire and nothing is assigned.',
    runbook:
      'A node takes the lease of the coordinator within a few seconds if it reaches the database. Read `GET /health/coordinator` on each node, then the logs of a node for "the database is unreachable".',
  },
  {
    name: 'BatonCoordinatorSlow',
    expr: 'histogram_quantile(0.95, sum by (le) (rate(baton_coordinator_cycle_duration_seconds_bucket[5m]))) > 5',
    for: '5m',
    severity: 'warning',
    summary: 'Passes of the coordinator take longer than 5 seconds.',
    runbook:
      'More is due than a pass handles at once, or the database is slow. Look at `baton_lease_expirations_total` for a wave of expired leases, and at the load of the database.',
  },
  {
    name: 'BatonStaleAgents',
    expr: 'sum by (workspace) (baton_coordinator_stale_agents) > 5',
    for: '5m',
    severity: 'warning',
    summary: '{{ $value }} agents of workspace {{ $labels.workspace }} are offline or in error.',
    runbook:
      'The page Agents shows which, and why. Agents that went offline together usually ran on one machine. An agent in error waits for a person: correct its settings and resume it.',
  },
  {
    name: 'BatonPendingTasks',
    expr: 'sum by (workspace) (baton_tasks{state="queued"}) > 50',
    for: '15m',
    severity: 'warning',
    summary: '{{ $value }} tasks of workspace {{ $labels.workspace }} wait for an agent.',
    runbook:
      'Too few agents, or none with the capabilities that the tasks need: the inbox names tasks that nobody can take. Raise the threshold for workspaces that queue much work on purpose.',
  },
  {
    name: 'BatonQueueAge',
    expr: 'max by (workspace) (baton_queue_age_seconds) > 900',
    for: '5m',
    severity: 'warning',
    summary:
      'A task of workspace {{ $labels.workspace }} has been queued for {{ $value | humanizeDuration }}.',
    runbook:
      'Work arrives faster than it is done, or no agent takes what is at the head of a queue: look at the capabilities, the project and the track of the oldest queued tasks, and at paused agents.',
  },
  {
    name: 'BatonTasksFailed',
    expr: 'sum by (workspace) (increase(baton_tasks_failed_total[1h])) > 10',
    severity: 'warning',
    summary: 'More than 10 tasks of workspace {{ $labels.workspace }} failed within an hour.',
    runbook:
      'Open the failed tasks: their failure class says whether the work, the settings or the machine was at fault. One cause with many failures is seen best in the list of runs, by error code.',
  },
  {
    name: 'BatonRetriesExhausted',
    expr: 'sum by (workspace) (increase(baton_tasks_retry_exhausted_total[1h])) > 0',
    severity: 'warning',
    summary: 'A task of workspace {{ $labels.workspace }} has no attempts left.',
    runbook:
      'It is a dead letter: `GET /dead-letters` and the inbox show it with the error of its last attempt. Correct the cause and retry it, or close it.',
  },
  {
    name: 'BatonSpawnRate',
    expr: 'sum(rate(baton_runs_started_total[1m])) * 60 > 100',
    for: '5m',
    severity: 'warning',
    summary: 'More than 100 runs begin in a minute.',
    runbook:
      'Agents that wake each other, or runs that end at once and are tried again: look at `baton_runs_ended_total` by status, and at the newest runs.',
  },
  {
    name: 'BatonExpiryRate',
    expr: 'sum by (workspace) (rate(baton_lease_expirations_total[15m])) / sum by (workspace) (rate(baton_claims_total{result="granted"}[15m])) > 0.1',
    for: '15m',
    severity: 'warning',
    summary:
      'More than a tenth of the claims of workspace {{ $labels.workspace }} end because their lease expires.',
    runbook:
      'Holders die or forget to renew. Leases that are shorter than the pauses of an agent expire although it works: ask for longer ones, or renew at 40 % of the lease.',
  },
  {
    name: 'BatonStaleWrites',
    expr: 'sum by (workspace) (rate(baton_stale_writes_refused_total[15m])) > 0.1',
    for: '15m',
    severity: 'warning',
    summary: 'Agents of workspace {{ $labels.workspace }} go on with work that is no longer theirs.',
    runbook:
      'Their writes are refused and nothing is lost, but they spend money on it. An agent that gets 409 with STALE_GENERATION, GENERATION_MISMATCH or ALREADY_EXPIRED must stop: look which agents ignore it.',
  },
  {
    name: 'BatonFollowerLag',
    expr: 'max by (follower) (baton_follower_lag_events) > 10000',
    for: '10m',
    severity: 'warning',
    summary: 'The follower {{ $labels.follower }} is {{ $value }} events behind.',
    runbook:
      'What it does is late, and retention waits for it. The log of the leader names the event that it cannot handle, if there is one.',
  },
  {
    name: 'BatonDatabaseErrors',
    expr: 'sum by (instance) (increase(baton_database_errors_total[5m])) > 0',
    for: '1m',
    severity: 'critical',
    summary: '{{ $labels.instance }} cannot use the database.',
    runbook:
      'Requests are answered 503 and are repeated by clients; nothing that was acknowledged is lost. Look whether Postgres runs, has connections left and room on its disk (`GET /health/ready` says when the disk is full).',
  },
  {
    name: 'BatonDatabaseConnectionsBusy',
    expr: 'max by (instance, pool) (baton_database_connections{state="waiting"}) > 20',
    for: '5m',
    severity: 'warning',
    summary: 'Callers on {{ $labels.instance }} wait for connections of the pool {{ $labels.pool }}.',
    runbook: 'The database is slower than requests arrive. Look at its slowest statements and at its disk.',
  },
  {
    name: 'BatonEventLoopLag',
    expr: 'max by (instance) (nodejs_eventloop_lag_p99_seconds) > 0.5',
    for: '5m',
    severity: 'warning',
    summary: 'The process on {{ $labels.instance }} is busy for {{ $value }} seconds at a time.',
    runbook:
      'All requests of the node wait meanwhile. Look whether the machine has cores left: agents that run on the node share them.',
  },
  {
    name: 'BatonNodeLost',
    expr: 'max(baton_nodes{state="silent"}) > 0',
    for: '2m',
    severity: 'warning',
    summary: '{{ $value }} nodes are silent.',
    runbook:
      'They have died or cannot reach the database. Their runs are ended or adopted by other nodes. A node that was stopped on purpose says so and does not count.',
  },
]

const anchorOf = ({ name }: AlertRule) => `docs/metrics.md#${name.toLowerCase()}`

/** The rules as Prometheus reads them. */
export const rulesFile = (): string =>
  `# Generated by \`npm run docs\` from scripts/docs/alert-rules.ts. Change the source, not this file.\n${stringify(
    {
      groups: [
        {
          name: 'baton',
          rules: ALERT_RULES.map((rule) => ({
            alert: rule.name,
            expr: rule.expr,
            ...(rule.for && { for: rule.for }),
            labels: { severity: rule.severity },
            annotations: { summary: rule.summary, runbook: anchorOf(rule) },
          })),
        },
      ],
    },
    { lineWidth: 0 },
  )}`
