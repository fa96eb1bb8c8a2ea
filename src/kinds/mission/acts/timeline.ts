import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { MissionTimeline, TimelineColumns } from '../../../views/insight/shapes.ts'
import { timelineOf } from '../../../views/timeline/postgres.ts'
import { segmentsOf } from '../../../views/timeline/segments.ts'
import { requireMission } from './missions.ts'

/** What the tasks of a mission did when, one segment after the other. */

interface Placed {
  /** Its tasks, in the order of their creation. */
  tasks: string[]
  /** In the order of the tasks, then of time. */
  segments: {
    /** The place of its task. */
    place: number
    attempt: number
    kind: AnswerOf<typeof MissionTimeline>['segments'][number]['kind']
    from: number
    to: number | null
    startedAt: number | null
    runId: string | null
  }[]
  seq: number
}

async function read(kernel: ServerKernel, caller: Caller, uuid: string): Promise<Placed> {
  const { id } = await requireMission(kernel, caller, uuid)
  const { seq, tasks, changes, runs } = await timelineOf(kernel.store.readers, caller.workspaceId, id)
  const placeOf = new Map(tasks.map(({ number }, place) => [number, place]))
  const claim = (task: number, generation: number, isVerification: boolean) =>
    `${task} ${generation} ${isVerification}`
  // The last run of a claim: it may have had several.
  const runOf = new Map(
    runs.map(({ task, generation, isVerification, id }) => [claim(task, generation, isVerification), id]),
  )
  const segments = segmentsOf(changes.filter(({ task }) => placeOf.has(task))).map(
    ({ task, attempt, kind, from, to, startedAt }) => {
      const hasRun = kind === 'work' || kind === 'verification'
      const runId = hasRun ? (runOf.get(claim(task, attempt, kind === 'verification')) ?? null) : null
      return { place: placeOf.get(task)!, attempt, kind, from, to, startedAt, runId }
    },
  )
  return { tasks: tasks.map((task) => task.id), segments, seq }
}

export async function missionTimeline(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
): Promise<AnswerOf<typeof MissionTimeline>> {
  const { tasks, segments, seq } = await read(kernel, caller, uuid)
  return {
    segments: segments.map(({ place, attempt, kind, from, to, startedAt, runId }) => ({
      task: tasks[place]!,
      attempt,
      kind,
      from: instant(from),
      to: instant(to),
      startedAt: instant(startedAt),
      runId,
    })),
    seq,
  }
}

/** The same as lists of equal length. */
export async function timelineInColumns(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
): Promise<AnswerOf<typeof TimelineColumns>> {
  const { tasks, segments, seq } = await read(kernel, caller, uuid)
  return {
    tasks,
    segments: {
      task: segments.map(({ place }) => place),
      attempt: segments.map(({ attempt }) => attempt),
      kind: segments.map(({ kind }) => kind),
      from: segments.map(({ from }) => from),
      to: segments.map(({ to }) => to),
      startedAt: segments.map(({ startedAt }) => startedAt),
      runId: segments.map(({ runId }) => runId),
    },
    seq,
  }
}
