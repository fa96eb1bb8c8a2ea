import type { StoredEvent } from '../../../src/kinds/events.ts'
import { isEnd } from '../../../src/kinds/mission/states.ts'
import type { RoutineRecord } from '../../../src/kinds/routine/record.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import type { Broken, Invariant } from './invariants.ts'
import type { Seen } from './seen.ts'

const MINUTE_MS = 60_000

/** The times of its schedule, in words of its own: here they are every minute or every second one. */
function* timesBetween({ schedule }: RoutineRecord, from: number, before: number): Generator<number> {
  const stepMs = schedule!.cron.startsWith('*/2') ? 2 * MINUTE_MS : MINUTE_MS
  for (let at = Math.ceil(from / stepMs) * stepMs; at < before; at += stepMs) yield at
}

const newsOf = ({ news }: Seen, { uuid }: RoutineRecord, type?: string): StoredEvent[] =>
  news.filter((event) => event.payload.routineId === uuid && (type === undefined || event.type === type))

const timeOf = ({ payload }: StoredEvent) => Date.parse(payload.scheduledFor as string)

/** A change of the schedule drops what was due by the previous one. */
const isRescheduled = (seen: Seen, routine: RoutineRecord) =>
  newsOf(seen, routine).some(({ type }) => type === 'routine_updated' || type === 'routine_removed')

/** What became of a time that came, or waited: started, waiting, skipped, missed or failed. */
function isTold(at: number, routine: RoutineRecord, seen: Seen): boolean {
  if (routine.waiting.includes(at)) return true
  return newsOf(seen, routine).some((event) => {
    const { type, payload } = event
    if (type === 'routine_missed')
      return Date.parse(payload.since as string) <= at && at <= Date.parse(payload.until as string)
    const isOne = type === 'routine_started' || type === 'routine_skipped' || type === 'routine_failed'
    return isOne && timeOf(event) === at
  })
}

export const routineInvariants: Record<string, Invariant> = {
  firesAreMissions: {
    says: 'A routine that has fired, and the mission that it names, come in one commit; no mission of a routine comes otherwise.',
    broken: ({ missions }, seen) => {
      const started = new Map(
        seen.news.flatMap(({ type, payload }) =>
          type === 'routine_started' ? [[payload.missionId as string, payload]] : [],
        ),
      )
      for (const { uuid, id, config } of missions.values()) {
        if (!config.routine || seen.missions.has(uuid)) continue
        const fire = started.get(uuid)
        if (fire?.routineId !== config.routine.id || fire.scheduledFor !== config.routine.scheduledFor)
          return `mission ${id} for ${config.routine.scheduledFor} was not started by its routine`
        started.delete(uuid)
      }
      const [left] = started.values()
      return left && `there is no new mission for ${left.scheduledFor}`
    },
  },
  timesFireOnce: {
    says: 'A time of a routine becomes one mission at most, has come by then, and none starts after a later one.',
    broken: ({ missions }, seen) => {
      for (const event of seen.news) {
        const { type, payload, at } = event
        if (type !== 'routine_started' || payload.scheduledFor === null) continue
        const time = timeOf(event)
        if (time > at || time % MINUTE_MS !== 0) return `it starts ${payload.scheduledFor}`
        const before = [...missions.values()].find(
          ({ uuid, config: { routine } }) =>
            uuid !== payload.missionId &&
            routine?.id === payload.routineId &&
            routine?.scheduledFor != null &&
            Date.parse(routine.scheduledFor) >= time,
        )
        if (before) return `${payload.scheduledFor} after mission ${before.id}`
      }
      return null
    },
  },
  overlapIsKept: {
    says: 'A scheduled mission starts when the missions of its routine before it have ended.',
    broken: ({ missions }, seen) => {
      for (const { type, payload } of seen.news) {
        if (type !== 'routine_started' || payload.scheduledFor === null) continue
        const open = [...missions.values()].find(
          ({ uuid, phase, config }) =>
            config.routine?.id === payload.routineId && uuid !== payload.missionId && !isEnd(phase),
        )
        // One that was started by hand in the same commit came after it.
        if (open && seen.missions.has(open.uuid)) return `mission ${open.id} is ${open.phase}`
      }
      return null
    },
  },
  timesAreAccountedFor: {
    says: 'A time that has come is started, waits, or is reported as skipped, missed or failed.',
    broken: ({ routines }, seen) => {
      for (const routine of routines.values()) {
        const before = seen.routines.get(routine.uuid)
        if (!before || before === routine || isRescheduled(seen, routine)) continue
        const came =
          before.nextAt === null ? [] : [...timesBetween(before, before.nextAt, routine.nextAt ?? 0)]
        const lost = [...came, ...before.waiting].find((at) => !isTold(at, routine, seen))
        if (lost !== undefined)
          return `${new Date(lost).toISOString()} of routine ${routine.id} (${routine.schedule!.overlap}, ${routine.schedule!.catchUp})`
      }
      return null
    },
  },
  oldTimesAreDropped: {
    says: 'A time that nobody noticed for more than a minute starts only if it may be caught up, and of several only the last or all.',
    broken: ({ routines }, seen) => {
      for (const routine of routines.values()) {
        const before = seen.routines.get(routine.uuid)
        const { schedule } = routine
        if (!before?.nextAt || !schedule || schedule.catchUp === 'all') continue
        for (const event of newsOf(seen, routine, 'routine_started')) {
          if (event.payload.scheduledFor === null || before.waiting.includes(timeOf(event))) continue
          const lateMs = event.at - timeOf(event)
          if (schedule.catchUp === 'none' && lateMs > MINUTE_MS) return `one starts ${lateMs} ms late`
          const [next] = timesBetween(routine, timeOf(event) + 1, event.at)
          if (next !== undefined) return `${event.payload.scheduledFor} starts, and was not the last`
        }
      }
      return null
    },
  },
}

export const routinesAfterQuiet = {
  routinesAreOnTime: {
    says: 'No time of a routine is left that has come, and none waits while nothing is under way.',
    broken: ({ routines, missions }: Workspace, now: number): Broken => {
      for (const { id, uuid, nextAt, waiting, removedAt } of routines.values()) {
        if (removedAt !== null) continue
        if (nextAt !== null && nextAt < now)
          return `routine ${id} was due at ${new Date(nextAt).toISOString()}`
        const isBusy = [...missions.values()].some(
          ({ phase, config }) => config.routine?.id === uuid && !isEnd(phase),
        )
        if (waiting.length > 0 && !isBusy) return `routine ${id} waits for nothing`
      }
      return null
    },
  },
}
