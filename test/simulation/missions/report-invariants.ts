import type { StoredReport } from '../../../src/kernel/store/run-store.ts'
import type { StoredEvent } from '../../../src/kinds/events.ts'
import { isEnd } from '../../../src/kinds/mission/states.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import { isTerminal, type TaskState } from '../../../src/pure/states.ts'
import { hasEnded } from './children-invariants.ts'
import type { Broken, Invariant } from './invariants.ts'

const subjectOf = ({ missionId, taskId }: Pick<StoredReport, 'missionId' | 'taskId'>) =>
  `${missionId}/${taskId ?? ''}`

/** Whether the event is the end of what a report by rule is about. */
function isEndOf({ missionId, taskId }: StoredReport, event: StoredEvent | undefined): boolean {
  if (!event || event.missionId !== missionId || event.taskId !== taskId) return false
  return taskId === null ? hasEnded(event.to) : isTerminal(event.to as TaskState)
}

function whyNotNext(report: StoredReport, before: readonly StoredReport[], { events }: Workspace): Broken {
  const { version, source, endedSeq } = report
  if (version !== before.length + 1) return `is version ${version}; there are ${before.length} before it`
  if (source === 'rule' && !isEndOf(report, events[endedSeq! - 1])) return `tells of no end (${endedSeq})`
  const isSame = before.some((one) => one.endedSeq !== null && one.endedSeq === endedSeq)
  return isSame && `tells again of the end ${endedSeq}`
}

export const reportInvariants: Record<string, Invariant> = {
  endsAreReportedOnce: {
    says: 'A report tells of an end that no other report tells of, and its version is the next.',
    broken: (now, seen) => {
      for (let i = seen.reports; i < now.reports.length; i++) {
        const report = now.reports[i]!
        const before = now.reports.slice(0, i).filter((one) => subjectOf(one) === subjectOf(report))
        const why = whyNotNext(report, before, now)
        if (why) return `the report on ${subjectOf(report)} ${why}`
      }
      return null
    },
  },
  reportsAreCounted: {
    says: 'The number of reports in the row of a mission is the number of its reports.',
    broken: (now, seen) => {
      if (now.reports.length === seen.reports) return null
      for (const { id, reportCount } of now.missions.values()) {
        const { length } = now.reports.filter(({ missionId }) => missionId === id)
        if (length !== reportCount) return `mission ${id} counts ${reportCount}; there are ${length}`
      }
      return null
    },
  },
}

/** Each end that stands, and who is to be reported on. */
function* ends(now: Workspace): Generator<{ missionId: number; taskId: number | null; seq: number }> {
  const { tasks, missions, events } = now
  for (const { id: taskId, missionId, purpose, state, startedAt } of tasks.values()) {
    if (missionId === null || purpose !== 'work' || !isTerminal(state)) continue
    // Nothing came of it.
    if (state !== 'completed' && state !== 'failed' && startedAt === null) continue
    const last = events.findLast((event) => event.taskId === taskId && event.to !== null)!
    yield { missionId, taskId, seq: last.seq }
  }
  for (const { id: missionId, phase } of missions.values()) {
    if (!isEnd(phase)) continue
    const last = events.findLast(
      (event) => event.missionId === missionId && event.taskId === null && hasEnded(event.to),
    )!
    yield { missionId, taskId: null, seq: last.seq }
  }
}

export const reportsAfterQuiet = {
  endsAreReportedOn: {
    says: 'There is a report by rule on every end that stands.',
    broken: (now: Workspace): Broken => {
      for (const end of ends(now)) {
        const isTold = now.reports.some(
          ({ endedSeq, source, ...report }) =>
            source === 'rule' && endedSeq === end.seq && subjectOf(report) === subjectOf(end),
        )
        if (!isTold) return `nothing tells of the end ${end.seq} of ${subjectOf(end)}`
      }
      return null
    },
  },
}
