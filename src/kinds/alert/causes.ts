/**
 * Every cause of an alert, once. The API, the events, the inbox, the app and docs/alerts.md are made from this table. What a cause means
 * in the database is in postgres/look.ts; which events open or end it, in rules/facts.ts.
 */

export const SEVERITIES = ['info', 'warning', 'critical'] as const
export type Severity = (typeof SEVERITIES)[number]

export const SCOPES = ['workspace', 'instance'] as const
export type AlertScope = (typeof SCOPES)[number]

/** What an alert is about: its subject is the id or the slug of that; a workspace and the instance need no name. */
export const ABOUT = [
  'task',
  'agent',
  'budget',
  'routine',
  'webhook',
  'counter',
  'node',
  'workspace',
  'instance',
] as const
type AlertAbout = (typeof ABOUT)[number]

interface Threshold {
  readonly value: number
  /** Of what. */
  readonly of: string
  /** Whether it raises an alert unless somebody decides otherwise. */
  readonly isOn: boolean
}

export interface Cause {
  readonly severity: Severity
  readonly scope: AlertScope
  readonly about: AlertAbout
  /** What has happened, in words that end a sentence. */
  readonly words: string
  /** When it begins and when it is over, for the runbook. */
  readonly when: string
  /** What a person should do, for the runbook. */
  readonly todo: string
  /**
   * The inbox has an item of its own about the same, with what may be decided: the alert is no second item. Without it, the alert is
   * the item, until somebody acknowledges it.
   */
  readonly isItemAlready?: true
  readonly threshold?: Threshold
  /** It is told by an event, and nothing shows when it is over: it is, after this long without another one, or once acknowledged. */
  readonly quietMs?: number
}

const DAY_MS = 86_400_000

const OF_THE_WORKSPACE = {
  task_not_taken: {
    ...{ severity: 'warning', scope: 'workspace', about: 'task', isItemAlready: true },
    words: 'No agent can take a task',
    when: 'Raised when a queued task needs capabilities that no agent and no worker has; one alert stands for all tasks that need the same. Over when somebody can take it, or it leaves the queue.',
    todo: 'Register an agent with these capabilities, give them to one that is there, or skip or cancel the task in the inbox.',
  },
  task_reserved: {
    ...{ severity: 'warning', scope: 'workspace', about: 'task', isItemAlready: true },
    words: 'A task waits for an agent that does not work',
    when: 'Raised when a queued task is reserved for an agent that is gone, or that has been paused or offline for longer than `verifyTimeoutSeconds`; of one in error, the agent is the alert. Over when the agent works again, or the task is released.',
    todo: 'Resume the agent, or let any agent take the task: both are decisions of the item in the inbox. Baton does not choose another agent, since somebody reserved the task on purpose.',
  },
  plan_not_taken: {
    ...{ severity: 'warning', scope: 'workspace', about: 'task', isItemAlready: true },
    words: 'No agent makes a plan',
    when: 'Raised when the planning task of a mission has waited for longer than `verifyTimeoutSeconds`, and no planner will take it. Over when somebody takes it.',
    todo: 'Resume or register an agent that plans, write the plan yourself (`PUT /missions/:id/plan`), or cancel the mission.',
  },
  not_verified: {
    ...{ severity: 'warning', scope: 'workspace', about: 'task', isItemAlready: true },
    words: 'A result could not be verified',
    when: 'Raised when nobody took a verification in time, or all its attempts failed, so that a person has to judge the result. Over when the result is judged.',
    todo: 'Judge the result in the inbox, or let another agent verify it. If it happens often, register a second verifier or raise `verifyTimeoutSeconds`.',
  },
  dead_letters: {
    ...{ severity: 'warning', scope: 'workspace', about: 'workspace', isItemAlready: true },
    words: 'Tasks have used up their attempts',
    when: 'Raised when more tasks than the threshold are dead letters. Over when no more than that are left.',
    todo: 'Read the error of the last attempt on each task, repair the cause, then retry or archive them (`POST /dead-letters/retry`).',
    threshold: { value: 0, of: 'dead letters', isOn: true },
  },
  agent_error: {
    ...{ severity: 'critical', scope: 'workspace', about: 'agent', isItemAlready: true },
    words: 'An agent is in error',
    when: 'Raised when an agent stops because it would fail with every task: its program, its folder or its configuration is wrong. Over when it is resumed, paused or terminated.',
    todo: 'Read the reason on the page of the agent, test it there (`POST /agents/:slug/test`), repair it and resume it.',
  },
  login_lost: {
    ...{ severity: 'critical', scope: 'workspace', about: 'agent', isItemAlready: true },
    words: 'An agent is no longer logged in',
    when: 'Raised when the model refuses the login or the key of an agent. Over when the agent is resumed, paused or terminated.',
    todo: 'Log in again on the node as the user that Baton runs as, or set a new key in the environment of the agent; then resume it. Other agents with the same login stop one after the other until then.',
  },
  budget_low: {
    ...{ severity: 'warning', scope: 'workspace', about: 'budget' },
    words: 'A budget is nearly used up',
    when: 'Raised when 90 % of a budget of the workspace, a project, an agent or a mission are used. Over when it is raised, a new period begins, or it is spent, which is the next alert.',
    todo: 'Look on the page of budgets at what used it, then raise it, move a part of another one to it, or let it stop the work.',
  },
  budget_spent: {
    ...{ severity: 'critical', scope: 'workspace', about: 'budget', isItemAlready: true },
    words: 'A budget is used up',
    when: 'Raised when a budget of the workspace, a project, an agent or a mission is used up, so that nothing more begins under it. Over when it has room again.',
    todo: 'Raise the budget, move a part of another one to it, or cancel what it has stopped: all are decisions of its item in the inbox.',
  },
  out_of_memory: {
    ...{ severity: 'critical', scope: 'workspace', about: 'task' },
    words: 'A task ran out of memory',
    when: 'Raised when a holder reports the failure class `out_of_memory`: the task fails at once, since the next attempt would run out of memory as well. Over when the task is retried, reset, promoted or archived.',
    todo: 'Give the agent more memory, or divide the task into smaller ones; then retry it.',
  },
  cycle: {
    ...{ severity: 'critical', scope: 'workspace', about: 'task', quietMs: DAY_MS },
    words: 'Tasks wait for each other',
    when: 'Raised when upkeep finds tasks that depend on each other in a circle, which no request can make: two that add dependencies at the same moment can, and so can a change of the database by hand. All tasks of the circle fail. Over once acknowledged, or after a day without another one about the task.',
    todo: 'Tell whoever made the tasks: the detail names them in order. Remove one dependency of the circle, then retry the tasks.',
  },
  counter_drift: {
    ...{ severity: 'warning', scope: 'workspace', about: 'counter', quietMs: DAY_MS },
    words: 'A counter was wrong',
    when: 'Raised when a counter or a sum of the ledger differed from the rows that it counts. It was corrected in the transaction that found it. Over once acknowledged, or after a day without another one.',
    todo: 'Nothing is to be repaired. It is a fault of Baton, or somebody changed the database by hand: report it with the detail, which has both figures.',
  },
  routine_failed: {
    ...{ severity: 'warning', scope: 'workspace', about: 'routine' },
    words: 'A routine could not start a mission',
    when: 'Raised when a scheduled time of a routine was dropped, for example because the template of a contractor is gone. Over when the routine starts a mission, is changed or removed.',
    todo: 'Read the reason, correct the routine or what it refers to, and start it by hand once.',
  },
  routine_stuck: {
    ...{ severity: 'warning', scope: 'workspace', about: 'routine' },
    words: 'A routine is skipped again and again',
    when: 'Raised when a routine was skipped three times in a row, because its last mission has not ended. Over when it starts a mission, is changed or removed.',
    todo: 'See what its last mission waits for; or choose another policy for overlaps, or a longer interval.',
  },
  webhook_disabled: {
    ...{ severity: 'warning', scope: 'workspace', about: 'webhook' },
    words: 'A webhook was disabled',
    when: 'Raised when an endpoint answered that it is gone (410), so that nothing more is sent to it. Over when the webhook is resumed, changed or removed.',
    todo: 'Correct the address and resume the webhook, or remove it. What was not delivered can be sent again.',
  },
  queue_age: {
    ...{ severity: 'warning', scope: 'workspace', about: 'workspace' },
    words: 'A task has waited in the queue for too long',
    when: 'Raised when a queued task that may be taken has waited for longer than the threshold. Over when none has.',
    todo: 'See on the board which tasks are queued and on the page of agents who is free: start more agents, raise their limits, or lower what is queued at once.',
    threshold: { value: 14_400, of: 'seconds that a queued task waits', isOn: true },
  },
  expiry_rate: {
    ...{ severity: 'warning', scope: 'workspace', about: 'workspace' },
    words: 'Many leases expire',
    when: 'Raised when more leases than the threshold expired within an hour. Over when no more than that have.',
    todo: 'Holders die or fall silent: look at their logs, and whether they renew in time. Raise `leaseSeconds` where work is quiet for long.',
    threshold: { value: 20, of: 'leases that expired within an hour', isOn: true },
  },
  failed_tasks: {
    ...{ severity: 'warning', scope: 'workspace', about: 'workspace' },
    words: 'Many tasks fail',
    when: 'Raised when more tasks than the threshold failed within an hour (Mosaic `tasks.failed.count`). Over when no more than that have.',
    todo: 'Insight shows what they have in common: the agent, the class of failure, the mission. Pause the agent or the mission until it is repaired.',
    threshold: { value: 10, of: 'tasks that failed within an hour', isOn: true },
  },
  stale_agents: {
    ...{ severity: 'warning', scope: 'workspace', about: 'workspace' },
    words: 'Many agents are silent',
    when: 'Raised when more agents than the threshold are offline (Mosaic `coordinator.stale_agents.count`). Over when no more than that are.',
    todo: 'Check the network and the machines of these agents; terminate those that will not come back.',
    threshold: { value: 5, of: 'agents that are offline', isOn: true },
  },
  pending_tasks: {
    ...{ severity: 'info', scope: 'workspace', about: 'workspace' },
    words: 'Many tasks wait for assignment',
    when: 'Raised when more tasks than the threshold are queued (Mosaic `tasks.pending.count`). Off unless chosen: a plan of a thousand tasks is no fault. Over when no more than that are.',
    todo: 'Nothing, if the work is expected. Otherwise see which missions queued it.',
    threshold: { value: 50, of: 'tasks that wait for assignment', isOn: false },
  },
  spawn_rate: {
    ...{ severity: 'info', scope: 'workspace', about: 'workspace' },
    words: 'Many runs are started',
    when: 'Raised when more runs than the threshold were started within a minute (Mosaic `agents.spawned.count`). Off unless chosen. Over when no more than that were.',
    todo: 'Look for agents whose runs end at once and begin again, and for agents that wake each other.',
    threshold: { value: 100, of: 'runs that were started within a minute', isOn: false },
  },
} as const satisfies Record<string, Cause>

const OF_THE_INSTANCE = {
  node_lost: {
    ...{ severity: 'critical', scope: 'instance', about: 'node' },
    words: 'A node is lost',
    when: 'Raised when a node has sent no heartbeat for 30 seconds and has not stopped by itself. Over when it is heard again, another one started on its machine, or it was forgotten after a day.',
    todo: 'See on the machine whether the process, the machine or the network failed, and start it again. Its claims expire, and its runs are recovered by the other nodes.',
  },
  disk_low: {
    ...{ severity: 'critical', scope: 'instance', about: 'node' },
    words: 'The disk is nearly full',
    when: 'Raised when the disk of the data folder of a node has less than twice `BATON_MIN_FREE_BYTES` free: below that setting itself, logs are cut. Over when it has more, or the node is gone.',
    todo: 'Make room: lower `BATON_KEEP_LOGS_DAYS`, move logs to object storage (`BATON_LOGS`), or enlarge the disk. With an embedded database, a full disk stops all writes.',
  },
  database_away: {
    ...{ severity: 'critical', scope: 'instance', about: 'node', quietMs: DAY_MS },
    words: 'The database was unreachable',
    when: 'Told on stderr, and to webhooks from memory, when a node has not reached the database for five minutes. As a row it is written when the database is back, with how long it was away; over once acknowledged, or after a day.',
    todo: 'While it lasts: start the database, or repair the way to it; Baton connects by itself. Afterwards: nothing, no acknowledged write is lost.',
  },
  database_errors: {
    ...{ severity: 'warning', scope: 'instance', about: 'instance' },
    words: 'The database fails',
    when: 'Raised when the coordinator met more failures of the database than the threshold within ten minutes (Mosaic `valkey.connection.errors`; Baton has Postgres in its place). Over when it met no more than that.',
    todo: 'Read the log of the database: restarts, limits on connections, a full disk.',
    threshold: { value: 0, of: 'failures of the database within ten minutes', isOn: true },
  },
  coordinator_slow: {
    ...{ severity: 'warning', scope: 'instance', about: 'instance' },
    words: 'The coordinator is slow',
    when: 'Raised when a pass of the coordinator took longer than the threshold within ten minutes (Mosaic `coordinator.cycle.duration_ms`). Over when none did.',
    todo: 'See whether the machine or the database is overloaded; the slow statements are in the log of Postgres (`log_min_duration_statement`).',
    threshold: { value: 5_000, of: 'milliseconds that a pass takes', isOn: true },
  },
} as const satisfies Record<string, Cause>

const CAUSES = { ...OF_THE_WORKSPACE, ...OF_THE_INSTANCE }
export type AlertCause = keyof typeof CAUSES
export const ALERT_CAUSES = Object.keys(CAUSES) as AlertCause[]

export const causeOf = (cause: AlertCause): Cause => CAUSES[cause]
const isCause = (text: string): text is AlertCause => Object.hasOwn(CAUSES, text)

/** The causes with a threshold, which a workspace may set. */
export const THRESHOLD_CAUSES = ALERT_CAUSES.filter((cause) => causeOf(cause).threshold) as [
  AlertCause,
  ...AlertCause[],
]

/** Codes of older events. */
const OLDER_WORDS: Readonly<Record<string, string>> = {
  TASK_NOT_TAKEN: 'No agent takes the task',
  OUT_OF_MEMORY: 'The task ran out of memory',
}

export const alertWords = (alert: string): string =>
  isCause(alert)
    ? causeOf(alert).words
    : Object.hasOwn(OLDER_WORDS, alert)
      ? OLDER_WORDS[alert]!
      : `Alert: ${alert.toLowerCase().replaceAll('_', ' ')}`
