import {
  edgesOf,
  idOf,
  isRecord,
  type Json,
  nameOf,
  tasksIn,
  valueIn,
  withEdges,
  withValue,
} from './plan-value.ts'

/** What is done to the tasks of a plan in the outline. Pure: each act makes another plan, and tasks that it leaves alone stay the same. */

const withTasks = (plan: Json, tasks: readonly Json[]): Json => ({ ...plan, tasks })

export const withTask = (plan: Json, at: number, change: (task: Json) => Json): Json =>
  withTasks(
    plan,
    tasksIn(plan).map((task, place) => (place === at ? change(task) : task)),
  )

function freeId(tasks: readonly Json[], wanted: (number: number) => string, from: number): string {
  const taken = new Set(tasks.map(idOf))
  let number = from
  while (taken.has(wanted(number))) number += 1
  return wanted(number)
}

const inserted = (tasks: readonly Json[], at: number, task: Json) => [
  ...tasks.slice(0, at),
  task,
  ...tasks.slice(at),
]

/** Behind this place, or at the end. */
export function withNewTask(plan: Json, after: number | null): { plan: Json; at: number } {
  const tasks = tasksIn(plan)
  const at = after === null ? tasks.length : after + 1
  const tempId = freeId(tasks, (number) => `task-${number}`, tasks.length + 1)
  return { plan: withTasks(plan, inserted(tasks, at, { tempId })), at }
}

export function withCopy(plan: Json, of: number): { plan: Json; at: number } {
  const tasks = tasksIn(plan)
  const original = tasks[of]!
  const stem = idOf(original).slice(0, 80) || 'task'
  const tempId = freeId(tasks, (number) => `${stem}-${number}`, 2)
  return { plan: withTasks(plan, inserted(tasks, of + 1, withValue(original, 'tempId', tempId))), at: of + 1 }
}

/** Names of the tasks that wait for this one. */
export function dependentsOf(plan: Json, at: number): string[] {
  const tasks = tasksIn(plan)
  const id = tasks[at] && idOf(tasks[at])
  return tasks.filter((task) => edgesOf(task).some(({ on }) => on === id)).map(nameOf)
}

/** Without it, and without the dependencies on it. */
export function withoutTask(plan: Json, at: number): Json {
  const tasks = tasksIn(plan)
  const id = tasks[at] && idOf(tasks[at])
  return withTasks(
    plan,
    tasks
      .filter((_, place) => place !== at)
      .map((task) => {
        const edges = edgesOf(task)
        const left = edges.filter(({ on }) => on !== id)
        return left.length === edges.length ? task : withEdges(task, left)
      }),
  )
}

export function withTaskAt(plan: Json, from: number, to: number): Json {
  const tasks = tasksIn(plan)
  const task = tasks[from]
  if (!task) return plan
  return withTasks(
    plan,
    inserted(
      tasks.filter((_, place) => place !== from),
      to,
      task,
    ),
  )
}

/** Another id, also where others wait for it. With one that is taken they would wait for another task: then only it is changed. */
export function renamed(plan: Json, at: number, tempId: string): Json {
  const tasks = tasksIn(plan)
  const before = idOf(tasks[at]!)
  const isTaken = tasks.some((task, place) => place !== at && [before, tempId].includes(idOf(task)))
  const follows = (task: Json): Json => {
    const edges = edgesOf(task)
    if (isTaken || before === '' || !edges.some(({ on }) => on === before)) return task
    return withEdges(
      task,
      edges.map((edge) => (edge.on === before ? { ...edge, on: tempId } : edge)),
    )
  }
  return withTasks(
    plan,
    tasks.map((task, place) => (place === at ? withValue(task, 'tempId', tempId) : follows(task))),
  )
}

/** Places of the tasks that this one may wait for: not itself, nothing that waits for it, however far, and none twice. */
export function offeredTo(tasks: readonly Json[], at: number): number[] {
  const waitFor = new Map<string, number[]>()
  tasks.forEach((task, place) => {
    for (const { on } of edgesOf(task)) waitFor.set(on, [...(waitFor.get(on) ?? []), place])
  })
  const after = new Set([at])
  for (const place of after) for (const next of waitFor.get(idOf(tasks[place]!)) ?? []) after.add(next)
  const chosen = new Set(edgesOf(tasks[at]!).map(({ on }) => on))
  return tasks.flatMap((task, place) => {
    const id = idOf(task)
    return after.has(place) || chosen.has(id) || id === '' ? [] : [place]
  })
}

/** Why something that was read is not the outline of a plan; null: it is. `task` is the place of the task that is not one. */
export function whyNoPlan(value: unknown): { words: string; task: number | null } | null {
  if (!isRecord(value)) return { words: 'A plan is a mapping with a list of tasks.', task: null }
  const tasks = valueIn(value, 'tasks')
  if (tasks === undefined || tasks === null) return null
  if (!Array.isArray(tasks)) return { words: 'The tasks must be a list.', task: null }
  const wrong = tasks.findIndex((task) => !isRecord(task))
  return wrong === -1 ? null : { words: `Task ${wrong + 1} must have fields, such as its id.`, task: wrong }
}
