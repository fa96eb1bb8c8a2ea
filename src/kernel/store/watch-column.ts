import type { TaskGroups } from '../../kinds/task/rules/groups.ts'

/** The groups that few tasks have are one column: null for all others, which then costs nothing to read or write. */

type NameIn<G> = G extends object ? keyof G & string : never
type GroupName = Exclude<keyof TaskGroups, 'resultCommit'>
/** The column as it is stored. Its names are those of the members of all groups. */
export type StoredWatch = Readonly<Record<string, unknown>>

/** Each member of a group, with the group it is in. The names are part of the stored format, and so is what queries read of them. */
const GROUP_OF = {
  estimateMs: 'timers',
  assignMs: 'timers',
  stallMs: 'timers',
  verifyMs: 'timers',
  hangGraceMs: 'timers',
  hangAbortMs: 'timers',
  retryBaseMs: 'timers',
  attemptMs: 'timers',
  timeouts: 'timers',
  attemptEndsAt: 'timers',
  doneBy: 'timers',
  progressAt: 'timers',
  suspectedAt: 'timers',
  deadlineMs: 'timers',
  deadlineAt: 'timers',
  closedMs: 'timers',
  deadlineLeftMs: 'timers',
  verdictLeftMs: 'timers',
  isVerdictLate: 'timers',
  clockMs: 'timers',
  expiresAt: 'timers',
  goesOn: 'continuation',
  goesOnAfter: 'continuation',
  wentOnAfter: 'continuation',
  isFresh: 'continuation',
  freshFrom: 'continuation',
  pausedByMission: 'continuation',
  pausedAt: 'continuation',
  overBudget: 'continuation',
  modelSwitches: 'modelUse',
  usedModel: 'modelUse',
  prefers: 'agentChoice',
  preferredUntil: 'agentChoice',
  otherAgentOnRetry: 'agentChoice',
  avoidedAgent: 'agentChoice',
  isOffered: 'holder',
  isRun: 'holder',
  claimMetadata: 'holder',
  messages: 'holder',
  exitCode: 'holder',
  asks: 'attention',
  judging: 'attention',
  isDeadLetter: 'attention',
  alert: 'attention',
  childDepth: 'children',
  childRoot: 'children',
  childCount: 'children',
} as const satisfies { [G in GroupName as NameIn<TaskGroups[G]>]: G }

export const NO_GROUPS: Readonly<TaskGroups> = Object.freeze({
  timers: null,
  continuation: null,
  modelUse: null,
  agentChoice: null,
  holder: null,
  attention: null,
  children: null,
  resultCommit: null,
})

/** The fields of a record that are stored in this column. */
export const GROUP_FIELDS = Object.keys(NO_GROUPS) as readonly (keyof TaskGroups)[]

const GROUPS = new Map<string, GroupName>(Object.entries(GROUP_OF))

/** Nothing is made for a task without any: the same object is returned for all of them. */
export function groupsOf(watch: StoredWatch | null): Readonly<TaskGroups> {
  if (watch === null) return NO_GROUPS
  const groups: Record<GroupName, Record<string, unknown> | null> & { resultCommit: string | null } = {
    timers: null,
    continuation: null,
    modelUse: null,
    agentChoice: null,
    holder: null,
    attention: null,
    children: null,
    resultCommit: null,
  }
  for (const name in watch) {
    const group = GROUPS.get(name)
    if (name === 'resultCommit') groups.resultCommit = watch[name] as string
    else if (group !== undefined) {
      const members = groups[group]
      if (members === null) groups[group] = { [name]: watch[name] }
      else members[name] = watch[name]
    }
  }
  return groups
}

/** Null: it has none of them. */
export function watchOf(groups: Readonly<TaskGroups>): StoredWatch | null {
  const { timers, continuation, modelUse, agentChoice, holder, attention, children, resultCommit } = groups
  const isWithout =
    timers === null &&
    continuation === null &&
    modelUse === null &&
    agentChoice === null &&
    holder === null &&
    attention === null &&
    children === null
  if (isWithout) return resultCommit === null ? null : { resultCommit }
  const watch = {
    ...timers,
    ...continuation,
    ...modelUse,
    ...agentChoice,
    ...holder,
    ...attention,
    ...children,
  }
  return resultCommit === null ? watch : { ...watch, resultCommit }
}
