import type { VerificationRule } from '../../mission/plan/mission-plan.ts'
import type { MissionConfig } from '../../mission/shapes/missions.ts'
import type { NewTask, TaskDetails } from '../command.ts'
import type { TaskRecord } from '../record.ts'
import type { TaskGroups, TaskTimers } from './groups.ts'
import { DEFAULT_MAX_CONTINUATIONS } from './retry.ts'

/** New tasks are built here, whoever asks for them: the API, a plan, an agent or Baton itself. */

type Needed = 'projectId' | 'priority' | 'maxRetries'
type NeededInDetails = 'title' | 'taskType' | 'description' | 'input' | 'project'

/** What is said of a new task. The rest gets its default. */
export interface SaidOfTask extends Pick<NewTask, Needed>, Partial<Omit<NewTask, Needed | 'details'>> {
  details: Pick<TaskDetails, NeededInDetails> & Partial<TaskDetails>
}

const NOTHING: readonly never[] = []
/** Titles of Baton's own tasks quote those of others, which may have this length already. */
const LONGEST_TITLE = 500

/** Field by field: to create a task is a hot path, and a spread in front costs several times as much. */
export function newTask(said: SaidOfTask): NewTask {
  return {
    key: said.key ?? null,
    projectId: said.projectId,
    parent: said.parent ?? null,
    merge: said.merge ?? 'none',
    priority: said.priority,
    maxRetries: said.maxRetries,
    maxContinuations: said.maxContinuations ?? DEFAULT_MAX_CONTINUATIONS,
    onlyAgent: said.onlyAgent ?? null,
    contractor: said.contractor,
    capabilities: said.capabilities ?? NOTHING,
    verification: said.verification ?? 'none',
    runAt: said.runAt ?? null,
    expiresAt: said.expiresAt ?? null,
    missionId: said.missionId ?? null,
    purpose: said.purpose ?? 'work',
    optional: said.optional ?? false,
    serves: said.serves,
    addedBy: said.addedBy,
    timers: said.timers ?? null,
    continuation: said.continuation ?? null,
    agentChoice: said.agentChoice ?? null,
    children: said.children ?? null,
    dependsOn: said.dependsOn ?? NOTHING,
    dependsOnNew: said.dependsOnNew ?? NOTHING,
    orderOnly: said.orderOnly,
    unique: said.unique ?? null,
    triggerRule: said.triggerRule ?? 'all_success',
    details: detailsOf(said.details),
  }
}

function detailsOf(said: SaidOfTask['details']): TaskDetails {
  const { title } = said
  return {
    title: title.length > LONGEST_TITLE ? title.slice(0, LONGEST_TITLE) : title,
    taskType: said.taskType,
    description: said.description,
    input: said.input,
    tags: said.tags ?? NOTHING,
    dependsOn: said.dependsOn ?? NOTHING,
    userId: said.userId ?? null,
    metadata: said.metadata,
    createdBy: said.createdBy ?? null,
    project: said.project,
    parent: null,
    mission: said.mission ?? null,
    plan: said.plan ?? null,
  }
}

/** Each once, in one order: tasks that need the same wait in the same lane of the queue. */
export const capabilitiesOf = (named: readonly string[]): readonly string[] =>
  named.length === 0 ? NOTHING : [...new Set(named)].sort()

/** A person's verdict is awaited; any other one Baton gets itself. */
export const verifiedBy = (rule: VerificationRule | null): TaskRecord['verification'] =>
  rule === null ? 'none' : rule.kind === 'human' ? 'human' : 'baton'

/** The model of a task: its own, its type's, or the mission's; null: its agent decides. */
export const modelOf = (
  { model, taskType }: { model: string | null; taskType: string },
  { models }: MissionConfig,
): string | null => model ?? models?.byTaskType?.[taskType] ?? models?.default ?? null

/** What is said of the times of a task. */
interface SaidOfTimes {
  timeouts?: MissionConfig['timeouts'] | null
  estimatedDurationMinutes?: number | null | undefined
  preferredAgent?: string | null | undefined
  fresh?: boolean | null | undefined
}

const timersOf = (said: SaidOfTimes, ofMission: MissionConfig | undefined): TaskTimers | null => {
  const { timeouts, estimatedDurationMinutes } = said
  if (!ofMission && !timeouts && estimatedDurationMinutes == null) return null
  const times = ofMission?.timeouts ? { ...ofMission.timeouts, ...timeouts } : (timeouts ?? {})
  return givenOf({
    estimateMs: estimateMsOf(estimatedDurationMinutes ?? undefined),
    assignMs: inMs(times.assignSeconds),
    stallMs: inMs(times.stallSeconds),
    verifyMs: inMs(times.verifySeconds),
    hangGraceMs: inMs(times.hangGraceSeconds),
    hangAbortMs: inMs(times.hangAbortSeconds),
    retryBaseMs: inMs(ofMission?.retry?.baseSeconds),
    attemptMs: inMs(times.attemptSeconds),
    deadlineMs: inMs(times.deadlineSeconds),
  })
}

/** The members that are set; null if none is, as for most tasks, of which nothing is stored. */
function givenOf<G extends object>(group: G): G | null {
  const given = Object.entries(group).filter(([, value]) => value !== undefined)
  return given.length === 0 ? null : (Object.fromEntries(given) as G)
}

const NOTHING_SAID = { timers: null, continuation: null, agentChoice: null }

/** The task's own times and choices, then those of its mission. */
export function groupsSaid(said: SaidOfTimes, ofMission: MissionConfig | undefined): GroupsSaid {
  const { timeouts, estimatedDurationMinutes, preferredAgent, fresh } = said
  if (!ofMission && !timeouts && estimatedDurationMinutes == null && preferredAgent == null && !fresh)
    return NOTHING_SAID
  const prefers = preferredAgent ?? undefined
  const otherAgentOnRetry = ofMission?.anotherModelOnRetry || undefined
  return {
    timers: timersOf(said, ofMission),
    continuation: fresh ? { isFresh: true } : null,
    agentChoice: givenOf({ prefers, otherAgentOnRetry }),
  }
}

type GroupsSaid = Pick<TaskGroups, 'timers' | 'continuation' | 'agentChoice'>

const MINUTE_MS = 60_000

/** How long a task should take. */
const estimateMsOf = (minutes: number | undefined) =>
  minutes === undefined ? undefined : Math.max(1, Math.round(minutes * MINUTE_MS))

const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000)
