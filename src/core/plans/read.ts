import { checkTracks } from './check.ts'
import { type Draft, type DraftTrack, readTask } from './drafts.ts'
import { asList, asMap, isEmpty, PLAN_FIELDS, readFields, TRACK_FIELDS } from './fields.ts'
import { isTrack } from './keys.ts'
import { type Entry, type Located, locate } from './located.ts'
import { LARGEST_PLAN_TASKS, type Plan } from './plan.ts'
import { below, type PlanProblem, Problems, quote } from './problems.ts'
import { readSyntax } from './syntax.ts'

export type PlanReading = { ok: true; plan: Plan } | { ok: false; problems: PlanProblem[] }

/** A plan from YAML 1.2 or JSON, or all its problems, by line. */
export function readPlan(text: string): PlanReading {
  const problems = new Problems()
  const syntax = readSyntax(text, problems)
  const plan = syntax && readRoot(locate(syntax.document.contents, syntax.at, problems), problems)
  return plan && !problems.any ? { ok: true, plan } : { ok: false, problems: problems.inOrder() }
}

function readRoot(root: Located, problems: Problems): Plan | null {
  const map = asMap(root, 'a mapping with project and tracks', root.line, '', problems)
  if (!map) return null
  const { values, entries } = readFields(map, PLAN_FIELDS, 'a plan', '', problems)
  const drafts = readTracks(entries.get('tracks'), map.line, problems)
  checkTracks(drafts, problems)
  const tracks = drafts.map(({ tasks, ...track }) => ({
    ...track,
    tasks: tasks.sort(bySequence).map((draft) => draft.task),
  }))
  return { project: values.project, name: values.name ?? null, tracks }
}

const bySequence = (one: Draft, other: Draft) => (one.key?.sequence ?? 0) - (other.key?.sequence ?? 0)

function readTracks(entry: Entry | undefined, line: number, problems: Problems): DraftTrack[] {
  if (!entry || isEmpty(entry.value)) {
    problems.report(entry?.line ?? line, 'tracks', 'is missing')
    return []
  }
  const map = asMap(entry.value, 'a mapping of tracks', entry.line, 'tracks', problems)
  if (!map) return []
  const count = { tasks: 0 }
  const tracks = map.entries.map((track) => readTrack(track, count, problems))
  if (count.tasks === 0) problems.report(entry.line, 'tracks', 'has no tasks; a plan needs at least one')
  if (count.tasks > LARGEST_PLAN_TASKS)
    problems.report(
      entry.line,
      'tracks',
      `has ${count.tasks} tasks with their subtasks; a plan may have at most ${LARGEST_PLAN_TASKS}`,
    )
  // Tasks that were not read must not be reported as missing dependencies.
  return count.tasks > LARGEST_PLAN_TASKS ? [] : tracks
}

function readTrack(
  { key: track, line, value }: Entry,
  count: { tasks: number },
  problems: Problems,
): DraftTrack {
  const path = below('tracks', track)
  if (!isTrack(track))
    problems.report(line, path, `is ${quote(track)}; a track name has 1 to 8 capital letters`)
  const long = value.kind === 'map' ? readFields(value, TRACK_FIELDS, 'a track', path, problems) : null
  const list = long ? long.entries.get('tasks') : { line, value }
  const inside = long ? below(path, 'tasks') : path
  const what = long ? 'a list of tasks' : 'a list of tasks or a mapping with one'
  const items = list ? asList(list.value, what, list.line, inside, problems) : []
  const tasks: Draft[] = []
  for (const [i, item] of items.entries()) {
    // The rest of a plan that is too long is only counted: reading it would block all other requests.
    const task = count.tasks < LARGEST_PLAN_TASKS ? readTask(item, below(inside, i), problems) : null
    if (task) tasks.push(task)
    count.tasks += 1 + (task?.subtasks.length ?? 0)
  }
  const { agents, sequential } = long?.values ?? { agents: undefined, sequential: false }
  return { track, maxAgents: agents ?? null, sequential, tasks }
}
