import { checkTracks } from './check.ts'
import { type Draft, type DraftTrack, readTask } from './drafts.ts'
import { asList, asMap, isEmpty, readFields } from './fields.ts'
import { isTrack } from './keys.ts'
import type { Position } from './lines.ts'
import type { Entry, Located } from './located.ts'
import { below, type Path } from './path.ts'
import { LARGEST_PLAN_TASKS, type Plan } from './plan.ts'
import { type Problems, quote } from './problems.ts'
import { PLAN_FIELDS, TRACK_FIELDS } from './project-fields.ts'

/** A project's plan: tracks of tasks with keys. */
export function readProject(map: Located & { kind: 'map' }, problems: Problems): Plan {
  const { values, entries, pathTo } = readFields(map, PLAN_FIELDS, 'a plan', null, problems)
  const drafts = readTracks(entries.get('tracks'), map.at, pathTo('tracks'), problems)
  checkTracks(drafts, problems)
  const tracks = drafts.map(({ tasks, ...track }) => ({
    ...track,
    tasks: tasks.sort(bySequence).map((draft) => draft.task),
  }))
  return { project: values.project, name: values.name ?? null, tracks }
}

const bySequence = (one: Draft, other: Draft) => (one.key?.sequence ?? 0) - (other.key?.sequence ?? 0)

function readTracks(entry: Entry | undefined, at: Position, path: Path, problems: Problems): DraftTrack[] {
  if (!entry || isEmpty(entry.value)) {
    problems.report(entry?.at ?? at, path, 'is missing')
    return []
  }
  const map = asMap(entry.value, 'a mapping of tracks', entry.at, path, problems)
  if (!map) return []
  const count = { tasks: 0 }
  const tracks = map.entries.map((track) => readTrack(track, path, count, problems))
  if (count.tasks === 0) problems.report(entry.at, path, 'has no tasks; a plan needs at least one')
  if (count.tasks > LARGEST_PLAN_TASKS)
    problems.report(
      entry.at,
      path,
      `has ${count.tasks} tasks with their subtasks; a plan may have at most ${LARGEST_PLAN_TASKS}`,
    )
  // Tasks that were not read must not be reported as missing dependencies.
  return count.tasks > LARGEST_PLAN_TASKS ? [] : tracks
}

function readTrack(
  { key: track, at, value }: Entry,
  above: Path,
  count: { tasks: number },
  problems: Problems,
): DraftTrack {
  const path = below(above, track)
  if (!isTrack(track))
    problems.report(at, path, `is ${quote(track)}; a track name has 1 to 8 capital letters`)
  const long = value.kind === 'map' ? readFields(value, TRACK_FIELDS, 'a track', path, problems) : null
  const list = long ? long.entries.get('tasks') : { at, value }
  const inside = long ? long.pathTo('tasks') : path
  const what = long ? 'a list of tasks' : 'a list of tasks or a mapping with one'
  const items = list ? asList(list.value, what, list.at, inside, problems) : []
  const tasks: Draft[] = []
  for (const [i, item] of items.entries()) {
    // The rest of a plan that is too long is only counted: reading it would block all other requests.
    const task = count.tasks < LARGEST_PLAN_TASKS ? readTask(item, below(inside, i), problems) : null
    if (task) tasks.push(task)
    count.tasks += 1 + (task?.subtasks.length ?? 0)
  }
  const { agents, sequential, purpose } = long?.values ?? { sequential: false }
  return { track, maxAgents: agents ?? null, sequential, purpose: purpose ?? null, tasks }
}
