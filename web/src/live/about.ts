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
])

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

export const about = {
  anything: isNews,

  /** The task, its claims, results, comments and runs. */
  task: of((event, id) => isOfTask(event, id) && isNews(event)),

  /** The mission with all its tasks. */
  mission: of((event, id) => event.missionId === id && isNews(event)),
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
  wakeupsOfAgent: of(
    (event, slug) => event.payload.agent === slug && (event.entityType === 'wakeup' || isOfRuns(event)),
  ),

  run: of((event, id) => event.runId === id && isNews(event)),
  /** All that a run says about itself but its usage, which is no line of its timeline. */
  runTimeline: of(({ runId, type }, id) => runId === id && type !== 'run_usage'),
  runs: isOfRuns,
  runsOfTask: of((event, id) => isOfTask(event, id) && isOfRuns(event)),
  runsOfAgent: of((event, slug) => event.payload.agent === slug && isOfRuns(event)),

  inbox: isOfInbox,
  inboxOfMission: of((event, id) => event.missionId === id && isOfInbox(event)),

  /** The first agents and missions of a workspace. */
  beginnings: (({ entityType, type }) =>
    (entityType === 'agent' || entityType === 'mission') &&
    /_(created|registered)$/.test(type)) satisfies Follows,
}
