import type { Changes, View } from '../../../src/kernel/batch/requests.ts'
import type { RoutineRecord } from '../../../src/kinds/routine/record.ts'
import type { MissionBug } from './bugs.ts'

/** Bugs in what is around missions: contractors, reports, routines. */

const withRoutines = (changes: Changes, change: (routine: RoutineRecord) => RoutineRecord): Changes => {
  const { routine } = changes.kinds
  return {
    ...changes,
    kinds: { ...changes.kinds, routine: { ...routine, written: routine.written.map(change) } },
  }
}

const idle = (view: View): View => {
  const { routine } = view.kinds
  const seen = new Map([...routine.seen].map(([uuid, one]) => [uuid, { ...one, isBusy: false }]))
  return { ...view, kinds: { ...view.kinds, routine: { ...routine, seen } } }
}

const seenRoutines = (view: View, change: (routine: RoutineRecord) => RoutineRecord): View => {
  const { routine } = view.kinds
  const seen = new Map([...routine.seen].map(([uuid, one]) => [uuid, { ...one, record: change(one.record) }]))
  return { ...view, kinds: { ...view.kinds, routine: { ...routine, seen } } }
}

type CatchUp = NonNullable<RoutineRecord['schedule']>['catchUp']
/** What they say in truth. */
const catchUps = new Map<string, CatchUp | undefined>()
const withCatchUp = (routine: RoutineRecord, catchUp: CatchUp | undefined): RoutineRecord => ({
  ...routine,
  schedule: routine.schedule && { ...routine.schedule, catchUp: catchUp ?? routine.schedule.catchUp },
})

const hasStarted = ({ events }: Changes) => events.some(({ type }) => type === 'routine_started')

export const BUGS_AROUND_MISSIONS = {
  reservationsAreForgotten: {
    says: 'It is forgotten for whom a task is reserved.',
    foundBy: ['reservedTasksAreKept'],
    view: (view) => ({
      ...view,
      records: new Map([...view.records].map(([id, task]) => [id, { ...task, onlyAgent: null }])),
    }),
  },
  contractorsAreNotMade: {
    says: 'The mission names its contractors, and they are not written.',
    foundBy: ['contractorsAreThere', 'nothingFails'],
    changes: (changes) => {
      const { agent } = changes.kinds
      const written = agent.written.filter(({ kind }) => kind !== 'contractor')
      return { ...changes, kinds: { ...changes.kinds, agent: { ...agent, written } } }
    },
  },
  contractorsStay: {
    says: 'Nobody looks after contractors whose mission has ended.',
    foundBy: ['contractorsAreGone'],
    reads: { agents: { contractorsToSettle: async () => [] } },
  },
  reportsComeTwice: {
    says: 'It is forgotten which ends are reported on.',
    foundBy: ['endsAreReportedOnce'],
    reads: { reports: { reported: async () => [] } },
  },
  reportsAreForgotten: {
    says: 'Nobody follows the log.',
    foundBy: ['endsAreReportedOn'],
    reads: { followers: { next: async () => [] } },
  },
  reportsAreNotCounted: {
    says: 'A report does not change the number of reports.',
    foundBy: ['reportsAreCounted'],
    changes: (changes) => {
      if (changes.reports.length === 0) return changes
      const { mission } = changes.kinds
      const written = mission.written.map((one) => ({ ...one, reportCount: one.reportCount - 1 }))
      return { ...changes, kinds: { ...changes.kinds, mission: { ...mission, written } } }
    },
  },
  firesAreNotKept: {
    says: 'A mission of a routine starts, and the log does not say so.',
    foundBy: ['firesAreMissions', 'timesAreAccountedFor'],
    changes: (changes) => ({
      ...changes,
      events: changes.events.filter(({ type }) => type !== 'routine_started'),
    }),
  },
  timesComeAgain: {
    says: 'A routine that has started a mission is due for the same time again.',
    foundBy: ['timesFireOnce', 'nothingFails'],
    changes: (changes) =>
      hasStarted(changes)
        ? withRoutines(changes, (one) => ({ ...one, nextAt: one.lastFor, lastFor: null }))
        : changes,
  },
  timesAreMistaken: {
    says: 'A mission is started for the minute after the one that came.',
    foundBy: ['timesFireOnce'],
    changes: (changes) => {
      const later = (at: string | null) => at && new Date(Date.parse(at) + 60_000).toISOString()
      const { mission } = changes.kinds
      const written = mission.written.map((one) => {
        const { routine } = one.config
        const isNew = routine && one.version === 1 && hasStarted(changes)
        if (!isNew) return one
        return {
          ...one,
          config: { ...one.config, routine: { ...routine, scheduledFor: later(routine.scheduledFor) } },
        }
      })
      const events = changes.events.map((event) =>
        event.type === 'routine_started'
          ? {
              ...event,
              payload: { ...event.payload, scheduledFor: later(event.payload.scheduledFor as string | null) },
            }
          : event,
      )
      return { ...changes, events, kinds: { ...changes.kinds, mission: { ...mission, written } } }
    },
  },
  overlapIsIgnored: {
    says: 'A routine takes no notice of the mission before.',
    foundBy: ['overlapIsKept'],
    view: idle,
  },
  whatWaitsIsLost: {
    says: 'A time that waits is not written.',
    foundBy: ['timesAreAccountedFor'],
    changes: (changes) => withRoutines(changes, (one) => ({ ...one, waiting: [] })),
  },
  everythingIsCaughtUp: {
    says: 'Whatever a routine says, all times that were missed are caught up.',
    foundBy: ['oldTimesAreDropped'],
    view: (view) =>
      seenRoutines(view, (one) => {
        catchUps.set(one.uuid, one.schedule?.catchUp)
        return withCatchUp(one, 'all')
      }),
    changes: (changes) => withRoutines(changes, (one) => withCatchUp(one, catchUps.get(one.uuid))),
  },
  routinesAreForgotten: {
    says: 'Nobody looks at routines.',
    foundBy: ['routinesAreOnTime'],
    reads: { routines: { due: async () => [] } },
  },
} satisfies Record<string, MissionBug>
