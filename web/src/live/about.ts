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

const namesAgent: Follows = ({ payload, entityType, by }) =>
  typeof payload.agent === 'string' || entityType === 'agent' || by.kind === 'agent'

const isOf = ({ taskId, payload }: LiveEvent, id: string) => taskId === id || payload.taskId === id

/** Items of the inbox have no entity of their own: their events are about what waits. */
const isOfInbox: Follows = ({ type }) => type.startsWith('inbox_')

export const about = {
  anything: isNews,
  /** The task, its claims, results, comments and runs. */
  task:
    (id: string): Follows =>
    (event) =>
      isOf(event, id) && isNews(event),
  /** The mission with all its tasks. */
  mission:
    (id: string): Follows =>
    (event) =>
      event.missionId === id && isNews(event),
  /** The mission alone: its plan, comments and reports, not what its tasks do. */
  missionItself:
    (id: string): Follows =>
    ({ entityType, missionId }) =>
      entityType === 'mission' && missionId === id,
  /** Which tasks a mission has and how they depend on each other. A task that only moves from one state to another changes neither. */
  missionGraph:
    (id: string): Follows =>
    (event) =>
      event.missionId === id &&
      isNews(event) &&
      (event.entityType === 'mission' ||
        (event.entityType === 'task' && (event.from === null || event.to === null))),
  /** All missions with their tasks. */
  missions: ((event) => event.missionId !== null && isNews(event)) satisfies Follows,
  /** An agent, what it holds and its runs. An account that is rate limited may be its own, even if other agents used it up. */
  agent:
    (slug: string): Follows =>
    ({ payload, entityType }) =>
      payload.agent === slug || (entityType === 'agent' && payload.until !== undefined),
  /** All agents, what they hold and how far they are. */
  agents: namesAgent,
  /** Who could take a task: agents as they are, not what they do. */
  agentsThemselves: (({ entityType }) => entityType === 'agent') satisfies Follows,
  run:
    (id: string): Follows =>
    (event) =>
      event.runId === id && isNews(event),
  /** All that a run says about itself but its usage, which is no line of its timeline. */
  runTimeline:
    (id: string): Follows =>
    ({ runId, type }) =>
      runId === id && type !== 'run_usage',
  runs: ((event) => event.entityType === 'run' && isNews(event)) satisfies Follows,
  runsOfTask:
    (id: string): Follows =>
    (event) =>
      isOf(event, id) && about.runs(event),
  runsOfAgent:
    (slug: string): Follows =>
    (event) =>
      event.payload.agent === slug && about.runs(event),
  wakeupsOfAgent:
    (slug: string): Follows =>
    (event) =>
      event.payload.agent === slug && (event.entityType === 'wakeup' || about.runs(event)),
  /** The first agents and missions of a workspace. */
  beginnings: (({ entityType, type }) =>
    (entityType === 'agent' || entityType === 'mission') &&
    /_(created|registered)$/.test(type)) satisfies Follows,
  inbox: isOfInbox,
  inboxOfMission:
    (id: string): Follows =>
    (event) =>
      event.missionId === id && isOfInbox(event),
}
