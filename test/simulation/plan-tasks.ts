import type { NewTask } from '../../src/kinds/task/command.ts'
import { TRIGGER_RULES } from '../../src/pure/states.ts'
import type { Random } from './random.ts'
import { START } from './scheduler.ts'

export const CAPABILITY = 'typescript'

export interface ProjectPlan {
  /** Undefined: the track is undeclared. */
  maxAgentsOnTrackA: number | null | undefined
}

type Plain = Pick<
  NewTask,
  | 'key'
  | 'priority'
  | 'maxRetries'
  | 'maxContinuations'
  | 'onlyAgent'
  | 'capabilities'
  | 'verification'
  | 'runAt'
  | 'expiresAt'
  | 'timers'
>
export interface TaskPlan extends Plain {
  /** Its place among all tasks, in the order of their requests. */
  place: number
  /** Which of the projects, if any. */
  project: number | null
  triggerRule: NewTask['triggerRule']
  merge: NewTask['merge']
  /** Places of the tasks it depends on: in requests before its own, or anywhere in its own. */
  waitsFor: number[]
  /** The place of the task it is a part of, in the same request. */
  partOf: number | null
  /** It has an idempotency key of its own. */
  unique: boolean
}

export function drawRequests(random: Random, projects: number): TaskPlan[][] {
  const count = random.pick([1, 2, 3, 3, 4, 4])
  const drafts = Array.from({ length: count }, (_, i) => drawTask(random, i, projects))
  const requests: TaskPlan[][] = []
  while (drafts.length > 0) {
    const together = drafts.splice(0, random.pick([1, 1, 2, 3]))
    if (random.chance(0.3))
      together.push(...drawParts(random, random.pick(together), count + requests.length * 2))
    requests.push(shuffled(random, together))
  }
  return withPlaces(requests)
}

/** Drafts name each other by where they were drawn; in a request of several that is not where they are. */
function withPlaces(requests: TaskPlan[][]): TaskPlan[][] {
  const placeOf = new Map(requests.flat().map(({ place: drawnAt }, place) => [drawnAt, place]))
  return requests.map((request) =>
    request.map((task) => ({
      ...task,
      place: placeOf.get(task.place)!,
      waitsFor: task.waitsFor.map((drawnAt) => placeOf.get(drawnAt)!),
      partOf: task.partOf === null ? null : placeOf.get(task.partOf)!,
    })),
  )
}

function drawTask(random: Random, i: number, projects: number): TaskPlan {
  const waitsFor = i > 0 && random.chance(0.35) ? [random.int(0, i - 1)] : []
  if (i > 1 && waitsFor[0] !== 0 && waitsFor.length > 0 && random.chance(0.3)) waitsFor.push(0)
  return {
    place: i,
    project: projects > 0 && random.chance(0.8) ? random.int(0, projects - 1) : null,
    key: random.chance(0.6) ? `${random.pick(['A', 'A', 'A', 'B'])}-00${i + 1}-sim` : null,
    priority: random.int(1, 10),
    maxRetries: random.int(0, 3),
    // Mostly as many as usual: else few would be lost while they wait for their continuation.
    maxContinuations: i === 1 ? 1 : 10,
    onlyAgent: random.chance(0.1) ? 'a1' : null,
    capabilities: random.chance(0.25) ? [CAPABILITY] : [],
    verification: random.pick(['none', 'none', 'human', 'verifier', 'verifier']),
    runAt: random.chance(0.15) ? START + random.int(1_000, 60_000) : null,
    expiresAt: random.chance(0.15) ? START + random.int(5_000, 150_000) : null,
    timers: random.chance(0.5) ? drawTimers(random) : null,
    triggerRule: random.pick(TRIGGER_RULES),
    merge: 'none',
    waitsFor,
    partOf: null,
    unique: random.chance(0.3),
  }
}

/** Time limits that differ from those of the workspace. Estimates are mostly too short, or nothing would ever hang. */
export function drawTimers(random: Random): NewTask['timers'] {
  const may = (times: readonly number[]) => (random.chance(0.3) ? random.pick(times) : undefined)
  const times = {
    estimateMs: random.chance(0.8) ? random.pick([1_000, 3_000, 10_000, 60_000]) : undefined,
    assignMs: may([2_000, 10_000]),
    stallMs: may([3_000, 10_000]),
    verifyMs: may([5_000, 60_000]),
    hangGraceMs: may([0, 2_000]),
    hangAbortMs: may([1_000, 4_000]),
    attemptMs: may([2_000, 20_000]),
    deadlineMs: may([30_000, 120_000]),
  }
  const given = Object.entries(times).filter(([, time]) => time !== undefined)
  return given.length === 0 ? null : Object.fromEntries(given)
}

/** One or two parts; they may depend on each other, and their parent waits for them. */
function drawParts(random: Random, parent: TaskPlan, drawnAt: number): TaskPlan[] {
  parent.merge = random.pick(['object', 'object', 'task'])
  // The rule is for its parts as well: with another one it would not need them all.
  parent.triggerRule = 'all_success'
  return Array.from({ length: random.int(1, 2) }, (_, i) => ({
    ...drawTask(random, 0, 0),
    place: drawnAt + i,
    project: parent.project,
    key: parent.key === null ? null : `${parent.key}::${i + 1}`,
    expiresAt: null,
    waitsFor: i > 0 && random.chance(0.3) ? [drawnAt] : [],
    partOf: parent.place,
  }))
}

function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const left = [...list]
  return list.map(() => left.splice(random.int(0, left.length - 1), 1)[0]!)
}
