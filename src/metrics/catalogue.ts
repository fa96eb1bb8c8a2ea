/**
 * All metrics, each stated once: the registry, docs/metrics.md and the checks of dashboard and rules are made from this. Names of
 * Coditect and Mosaic are kept as far as Prometheus allows: `tenant` is `workspace`, times are in seconds.
 */

interface Metric {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  labels: readonly string[]
  buckets?: readonly number[]
  /**
   * `node`: each node counts what it did itself, so sums over nodes are right. `cluster`: only the leader has it, and it is about all
   * nodes.
   */
  of: 'node' | 'cluster'
  /** What it is called in the document that it comes from. */
  was?: string
}

const WORK = ['workspace', 'project'] as const

export const METRICS = {
  baton_claims_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK, 'result'],
    help: 'Claims by result: granted, denied_active, denied_completed, or the code of another refusal',
    was: 'Coditect 8.1 coditect_claims_total',
  },
  baton_results_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK, 'result'],
    help: 'Submitted results: accepted, stale_generation, session_mismatch, no_claim, or the code of another refusal',
    was: 'Coditect 8.1 coditect_results_total',
  },
  baton_lease_renewals_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK, 'result'],
    help: 'Renewals of leases: renewed or failed',
    was: 'Coditect 8.1 coditect_lease_renewals_total',
  },
  baton_lease_expirations_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK],
    help: 'Claims that ended because their lease expired',
    was: 'Coditect 8.1 coditect_lease_expirations_total',
  },
  baton_generation_increments_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK],
    help: 'How often the generation of a task was raised: once for each granted claim',
    was: 'Coditect 8.1 coditect_generation_increments_total',
  },
  baton_stale_writes_refused_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK, 'command', 'code'],
    help: 'Writes of holders that had lost their claim (zombies), by what they tried and the code of the refusal',
  },
  baton_active_claims: {
    type: 'gauge',
    of: 'cluster',
    labels: [...WORK],
    help: 'Tasks that are held now',
    was: 'Coditect 8.1 coditect_active_claims',
  },
  baton_pending_tasks: {
    type: 'gauge',
    of: 'cluster',
    labels: [...WORK],
    help: 'Tasks that wait: queued, blocked, scheduled, or for their next attempt',
    was: 'Coditect 8.1 coditect_pending_tasks; Mosaic tasks.pending.count',
  },
  baton_completed_tasks: {
    type: 'gauge',
    of: 'cluster',
    labels: [...WORK],
    help: 'Completed tasks that are not archived',
    was: 'Coditect 8.1 coditect_completed_tasks',
  },
  baton_claim_duration_seconds: {
    type: 'histogram',
    of: 'node',
    labels: [...WORK],
    buckets: [1, 5, 15, 60, 300, 900, 3600],
    help: 'How long claims were held, when they end',
    was: 'Coditect 8.1 coditect_claim_duration_seconds',
  },
  baton_task_completion_time_seconds: {
    type: 'histogram',
    of: 'node',
    labels: [...WORK],
    buckets: [10, 60, 300, 900, 3600, 7200],
    help: 'From the creation of a task to its completion',
    was: 'Coditect 8.1 coditect_task_completion_time_seconds',
  },
  baton_generations_per_task: {
    type: 'histogram',
    of: 'node',
    labels: [...WORK],
    buckets: [1, 2, 3, 5, 10, 20, 50],
    help: 'How many claims a task took, when it ends',
    was: 'Coditect 8.1 coditect_generations_per_task',
  },
  baton_tasks_created_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK],
    help: 'Tasks that were created',
  },
  baton_tasks_failed_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK],
    help: 'Tasks that failed; of the last hour: increase(baton_tasks_failed_total[1h])',
    was: 'Mosaic tasks.failed.count',
  },
  baton_tasks_retry_exhausted_total: {
    type: 'counter',
    of: 'node',
    labels: [...WORK],
    help: 'Tasks that became dead letters: their attempts or generations ran out',
    was: 'Mosaic tasks.retry.exhausted.count',
  },
  baton_tasks: {
    type: 'gauge',
    of: 'cluster',
    labels: ['workspace', 'state'],
    help: 'Tasks that are not archived, by state',
  },
  baton_queue_age_seconds: {
    type: 'gauge',
    of: 'cluster',
    labels: ['workspace'],
    help: 'How long the longest waiting of the tasks that are handed out next has been queued; 0: none is queued',
  },
  baton_missions_ended_total: {
    type: 'counter',
    of: 'node',
    labels: ['workspace', 'state'],
    help: 'Missions that ended: completed, failed or cancelled',
  },
  baton_workspace_info: {
    type: 'gauge',
    of: 'cluster',
    labels: ['workspace', 'name'],
    help: 'Always 1: the name of a workspace beside its id',
  },
  baton_agents: {
    type: 'gauge',
    of: 'cluster',
    labels: ['workspace', 'state'],
    help: 'Agents by state: idle (also those at work), paused, error or offline',
  },
  baton_coordinator_stale_agents: {
    type: 'gauge',
    of: 'cluster',
    labels: ['workspace'],
    help: 'Agents that are offline, because they are silent, or in error',
    was: 'Mosaic coordinator.stale_agents.count',
  },
  baton_coordinator_cycle_duration_seconds: {
    type: 'histogram',
    of: 'node',
    labels: [],
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    help: 'Time of a pass of the coordinator, on the node that leads',
    was: 'Mosaic coordinator.cycle.duration_ms',
  },
  baton_coordinator_leads: {
    type: 'gauge',
    of: 'node',
    labels: [],
    help: '1 if this node coordinates, else 0',
  },
  baton_follower_lag_events: {
    type: 'gauge',
    of: 'cluster',
    labels: ['follower'],
    help: 'How many events a follower of the log is behind, in the workspace in which it is furthest behind',
  },
  baton_nodes: {
    type: 'gauge',
    of: 'cluster',
    labels: ['state'],
    help: 'Nodes on this database by state: alive, silent or stopped',
  },
  baton_runs_started_total: {
    type: 'counter',
    of: 'node',
    labels: ['workspace', 'adapter'],
    help: 'Runs that began, on the node that executes them',
    was: 'Mosaic agents.spawned.count',
  },
  baton_runs_ended_total: {
    type: 'counter',
    of: 'node',
    labels: ['workspace', 'adapter', 'status'],
    help: 'Runs that ended: succeeded, failed, cancelled or timed_out',
  },
  baton_run_duration_seconds: {
    type: 'histogram',
    of: 'node',
    labels: ['adapter'],
    buckets: [1, 5, 15, 60, 300, 900, 3600],
    help: 'From the begin of a run to its end',
  },
  baton_runs_active: {
    type: 'gauge',
    of: 'node',
    labels: [],
    help: 'Runs that this node executes now',
  },
  baton_tokens_total: {
    type: 'counter',
    of: 'node',
    labels: ['workspace', 'project', 'kind', 'basis'],
    help: 'Tokens booked in the ledger: input, cached_input and output; corrections downwards are left out',
  },
  baton_cost_usd_total: {
    type: 'counter',
    of: 'node',
    labels: ['workspace', 'project', 'basis'],
    help: 'Dollars booked in the ledger: reported and priced are paid, notional is covered by a subscription, simulated is the demonstration',
  },
  baton_http_request_duration_seconds: {
    type: 'histogram',
    of: 'node',
    labels: ['method', 'route', 'status'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10],
    help: 'Requests by route pattern and class of status; those that wait for work take as long as they wait',
  },
  baton_database_errors_total: {
    type: 'counter',
    of: 'node',
    labels: [],
    help: 'Times the database could not be reached, refused for now, or broke a connection',
    was: 'Mosaic valkey.connection.errors',
  },
  baton_database_connections: {
    type: 'gauge',
    of: 'node',
    labels: ['pool', 'state'],
    help: 'Connections to the database by pool: busy, idle, and callers waiting for one',
  },
  baton_build_info: {
    type: 'gauge',
    of: 'node',
    labels: ['version', 'node'],
    help: 'Always 1: the version of Baton and the name of the node',
  },
} as const satisfies Record<string, Metric>

export type MetricName = keyof typeof METRICS
export const METRIC_LIST = Object.entries<Metric>(METRICS)
