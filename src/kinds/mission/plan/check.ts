import { shortestCycles } from '../../../pure/graph.ts'
import { formatTaskKey, parentKey } from '../../task/rules/task-keys.ts'
import type { Dependency, Draft, DraftTrack } from './drafts.ts'
import { isTrack, readKey } from './keys.ts'
import type { Position } from './lines.ts'
import type { Path } from './path.ts'
import { type Problems, whereIs } from './problems.ts'

/** Checks tasks against each other: unique keys in the right track, and dependencies without cycles. */
export function checkTracks(tracks: readonly DraftTrack[], problems: Problems): void {
  const drafts = tracks.flatMap(({ tasks }) => tasks.flatMap((task) => [task, ...task.subtasks]))
  const byKey = indexByKey(drafts, problems)
  for (const track of tracks) checkPlaces(track, problems)
  const waits = new Map<Draft, Wait[]>()
  for (const draft of drafts) waits.set(draft, [...waitsOf(draft, byKey, problems)])
  for (const track of tracks) if (track.sequential) waitInSequence(track, waits)
  for (const draft of drafts) handOnToParts(draft, waits)
  reportCycles(drafts, waits, problems)
}

/** A dependency, and where the plan declares it. */
interface Wait {
  on: Draft
  at: Position
  path: Path
}

function indexByKey(drafts: readonly Draft[], problems: Problems): Map<string, Draft> {
  const byKey = new Map<string, Draft>()
  for (const draft of drafts) {
    if (!draft.key) continue
    const first = byKey.get(draft.task.key)
    if (!first) byKey.set(draft.task.key, draft)
    // Subtasks of a duplicate would be duplicates too; only their parent is reported.
    else if (!draft.parent)
      problems.report(
        draft.idAt,
        draft.idPath,
        `is ${draft.task.key}, which is already used ${whereIs(first.idAt, first.idPath)}`,
      )
  }
  return byKey
}

/** Each key is in its own track, and each sequence number of a track is used once. */
function checkPlaces({ track, tasks }: DraftTrack, problems: Problems): void {
  const taken = new Map<number, Draft>()
  for (const draft of tasks) {
    if (!draft.key) continue
    const report = (message: string) => problems.report(draft.idAt, draft.idPath, message)
    // For an invalid track, its name is the problem.
    if (draft.key.track !== track) {
      if (isTrack(track))
        report(`is ${draft.task.key}, which belongs to track ${draft.key.track}, not ${track}`)
      continue
    }
    const first = taken.get(draft.key.sequence)
    if (!first) taken.set(draft.key.sequence, draft)
    else if (first.task.key !== draft.task.key) {
      const place = formatTaskKey({ ...draft.key, description: '' }).slice(0, -1)
      const where = whereIs(first.idAt, first.idPath)
      report(`has the sequence ${place}, which ${first.task.key} already has ${where}`)
    }
  }
}

function* waitsOf(draft: Draft, byKey: ReadonlyMap<string, Draft>, problems: Problems): Generator<Wait> {
  const listed = new Map<string, Dependency>()
  for (const dependency of draft.dependencies) {
    const { key, at, path } = dependency
    const first = listed.get(key)
    if (first !== undefined) {
      problems.report(at, path, `is ${key} again, which is already listed ${whereIs(first.at, first.path)}`)
      continue
    }
    listed.set(key, dependency)
    const on = dependedOn(draft, dependency, byKey, problems)
    if (on) yield { on, at, path }
  }
  for (const subtask of draft.subtasks) yield { on: subtask, at: subtask.at, path: subtask.path }
}

function dependedOn(
  draft: Draft,
  { key, at, path }: Dependency,
  byKey: ReadonlyMap<string, Draft>,
  problems: Problems,
): Draft | null {
  const { wrong } = readKey(key)
  for (const message of wrong ?? []) problems.report(at, path, message)
  if (wrong) return null
  const own = draft.task.key
  const why =
    key === own
      ? `is the task itself; a task cannot depend on itself`
      : !draft.parent && parentKey(key) === own
        ? `is ${key}, its own subtask; a task always waits for its subtasks`
        : draft.parent && parentKey(own) === key
          ? `is ${key}, its own parent, which waits for its subtasks`
          : !byKey.has(key)
            ? `is ${key}, which is not in the plan`
            : null
  if (why === null) return byKey.get(key)!
  problems.report(at, path, why)
  return null
}

function waitInSequence({ tasks }: DraftTrack, waits: ReadonlyMap<Draft, Wait[]>): void {
  const bySequence = new Map<number, Draft>()
  for (const draft of tasks)
    if (draft.key && !bySequence.has(draft.key.sequence)) bySequence.set(draft.key.sequence, draft)
  const inOrder = [...bySequence].sort(([one], [other]) => one - other).map(([, draft]) => draft)
  inOrder.slice(1).forEach((draft, i) => {
    waits.get(draft)!.push({ on: inOrder[i]!, at: draft.at, path: draft.path })
  })
}

/** The parts of a task wait for the dependencies of the whole. */
function handOnToParts(whole: Draft, waits: ReadonlyMap<Draft, Wait[]>): void {
  const parts = new Set(whole.subtasks)
  const others = waits.get(whole)!.filter(({ on }) => !parts.has(on))
  for (const part of parts) waits.get(part)!.push(...others)
}

function reportCycles(drafts: readonly Draft[], waits: ReadonlyMap<Draft, Wait[]>, problems: Problems): void {
  const places = new Map(drafts.map((draft, i) => [draft, i]))
  const graph = drafts.map((draft) => waits.get(draft)!.map((wait) => places.get(wait.on)!))
  for (const cycle of shortestCycles(graph)) {
    const names = [...cycle, cycle[0]!].map((place) => drafts[place]!.task.key)
    const { at, path } = waits.get(drafts[cycle[0]!]!)!.find((wait) => wait.on === drafts[cycle[1]!])!
    problems.report(at, path, `closes a dependency cycle: ${names.join(' → ')}`)
  }
}
