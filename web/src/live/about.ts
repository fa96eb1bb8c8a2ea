import type { LiveEvent } from './card.ts'

/**
 * What a page follows: which events have its answer read again. Decided by what an event is about, so that a new type of event is
 * followed without an edit here. A snapshot is read again every two seconds at most, however many events match.
 */

export type Follows = (event: LiveEvent) => boolean

/** Events that contain all they change. They come by the second while agents work: cards and runs apply them instead. */
const COMPLETE: ReadonlySet<string> = new Set([
  'task_progress',
  'task_logged',
  'claim_renewed',
  'run_status',
  'run_usage',
  'claim_usage',
])

/** What runs and claims have used. */
const USAGE: ReadonlySet<string> = new Set(['run_usage', 'claim_usage'])

/** A checkpoint is more than its event contains. */
const isNews: Follows = ({ type, payload }) => !COMPLETE.has(type) || payload.checkpoint === true

/** Matches by an id or a slug. */
const of =
  (isAbout: (event: LiveEvent, id: string) => boolean) =>
  (id: string): Follows =>
  (event) =>
    isAbout(event, id)

const isOfTask = ({ taskId, payload }: LiveEvent, id: string) => taskId === id || payload.taskId === id
const isOfRuns: Follows = (event) => event.entityType === 'run' && isNews(event)
/** Items of the inbox have no entity of their own: their events are about what waits. */
const isOfInbox: Follows = ({ type }) => type.startsWith('inbox_')
/** Moving from one state to another changes neither which tasks a mission has nor how they depend on each other. */
const isMove: Follows = ({ from, to }) => from !== null && to !== null

const isMissionsMove: Follows = (event) => event.entityType === 'mission' && event.to !== null
/** It came into another state, or is new. */
const isTasksMove: Follows = (event) => event.entityType === 'task' && event.to !== null

export const about = {
  anything: isNews,

  /** The task, its claims, results, comments and runs. */
  task: of((event, id) => isOfTask(event, id) && isNews(event)),

  /** The mission with all its tasks. */
  mission: of((event, id) => event.missionId === id && isNews(event)),
  /** The same with what its tasks use: events of usage do not say of which mission they are. */
  costOfMission: of((event, id) => (event.missionId === id && isNews(event)) || USAGE.has(event.type)),
  /** The mission alone: its plan, comments and reports, not what its tasks do. */
  missionItself: of(({ entityType, missionId }, id) => entityType === 'mission' && missionId === id),
  missionGraph: of((event, id) => {
    if (event.missionId !== id || !isNews(event)) return false
    return event.entityType === 'mission' || (event.entityType === 'task' && !isMove(event))
  }),
  /** Which tasks a mission has, not what they do. */
  tasksOfMission: of(
    ({ type, missionId, purpose }, id) =>
      missionId === id &&
      (purpose ?? 'work') === 'work' &&
      (type === 'task_created' || type === 'task_archived'),
  ),
  /** All missions with their tasks. */
  missions: ((event) => event.missionId !== null && isNews(event)) satisfies Follows,

  /** The agent, what it holds and its runs. An account that is rate limited may be its own, even if other agents used it up. */
  agent: of(
    ({ payload, entityType }, slug) =>
      payload.agent === slug || (entityType === 'agent' && payload.until !== undefined),
  ),
  /** All agents, what they hold and how far they are. */
  agents: (({ payload, entityType, by }) =>
    typeof payload.agent === 'string' || entityType === 'agent' || by.kind === 'agent') satisfies Follows,
  /** Who could take a task: agents as they are, not what they do. */
  agentsThemselves: (({ entityType }) => entityType === 'agent') satisfies Follows,
  /** Agents, projects and missions that can be chosen, and what is said of them there. */
  names: (({ type }) =>
    /^(agent|project|mission)_(registered|created|updated|terminated|removed)$/.test(type)) satisfies Follows,
  wakeupsOfAgent: of(
    (event, slug) => event.payload.agent === slug && (event.entityType === 'wakeup' || isOfRuns(event)),
  ),

  run: of((event, id) => event.runId === id && isNews(event)),
  /** All that a run says about itself but its usage, which is no line of its timeline. */
  runTimeline: of(({ runId, type }, id) => runId === id && type !== 'run_usage'),
  runs: isOfRuns,
  runsOfTask: of((event, id) => isOfTask(event, id) && isOfRuns(event)),
  runsOfAgent: of((event, slug) => event.payload.agent === slug && isOfRuns(event)),

  /** What is used and reserved: by runs and claims as they begin, work and end, and by changes of budgets. */
  spending: ((event) =>
    event.entityType === 'budget' ||
    USAGE.has(event.type) ||
    isOfRuns(event) ||
    isTasksMove(event) ||
    event.type.startsWith('mission_budget_')) satisfies Follows,
  modelTiers: (({ type }) => type === 'model_tiers_changed') satisfies Follows,
  prices: (({ type }) => type.startsWith('price_')) satisfies Follows,
  thresholds: (({ type }) => type.startsWith('threshold_')) satisfies Follows,

  /** Hooks, and what comes to them. */
  hooks: (({ entityType }) => entityType === 'hook') satisfies Follows,
  hook: of(({ entityType, entityId }, id) => entityType === 'hook' && entityId === id),

  keys: (({ entityType }) => entityType === 'key') satisfies Follows,
  /** The limits and their use, which every claim changes. */
  limits: isNews,
  /** Who coordinates, and what it recovered. A node that comes or goes writes no event. */
  coordinator: (({ type }) => type === 'recovery_forced') satisfies Follows,
  /** Routines, and the missions they may have started. */
  routines: ((event) => event.entityType === 'routine' || isMissionsMove(event)) satisfies Follows,
  /** Not its end: there is nothing to read then. */
  routine: of(
    (event, id) =>
      (event.entityType === 'routine' && event.entityId === id && event.type !== 'routine_removed') ||
      isMissionsMove(event),
  ),

  /** Projects, and their tasks: an event of a task does not say which project it is in. */
  projects: ((event) => event.entityType === 'project' || isTasksMove(event)) satisfies Follows,
  project: of(
    (event, slug) => (event.entityType === 'project' && event.entityId === slug) || isTasksMove(event),
  ),

  /** Sessions and workers, and what they hold. */
  sessions: ((event) => event.entityType === 'session' || isTasksMove(event)) satisfies Follows,
  /** One session: what it holds is among the events of tasks, whose holder is in their payload. */
  session: of(
    (event, name) => (event.entityType === 'session' && event.entityId === name) || isTasksMove(event),
  ),
  deadLetters: ((event) =>
    isTasksMove(event) && (event.to === 'failed' || event.from === 'failed')) satisfies Follows,

  inbox: isOfInbox,
  inboxOfMission: of((event, id) => event.missionId === id && isOfInbox(event)),

  /** What is wrong. */
  alerts: (({ type }) => /^alert_(raised|repeated|acknowledged|resolved)$/.test(type)) satisfies Follows,

  /** The first agents and missions of a workspace. */
  beginnings: (({ entityType, type }) =>
    (entityType === 'agent' || entityType === 'mission') &&
    /_(created|registered)$/.test(type)) satisfies Follows,
}
