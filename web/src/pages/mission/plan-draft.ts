import { Problem } from '../../../../src/client/client.ts'

/** A plan while a person edits it: some fields as text, all others as they were. Pure. */

const JUDGES = ['none', 'human', 'agent', 'command', 'auto'] as const
export type Judge = (typeof JUDGES)[number]

export interface DraftTask {
  readonly tempId: string
  readonly title: string
  readonly agent: string
  /** It goes first; others after a while. */
  readonly preferredAgent: string
  readonly model: string
  /** tempIds, with commas between. */
  readonly after: string
  readonly judge: Judge
  /** The agent or the command that judges. */
  readonly judgeBy: string
  readonly budgetUsd: string
  /** The task as the plan has it, with the fields that are not edited here. */
  readonly rest: Json
}
type Json = Readonly<Record<string, unknown>>
export type DraftField = Exclude<keyof DraftTask, 'rest'>

/** What is edited, and from which version it began. It is kept until it is saved or discarded. */
export interface PlanEdit {
  readonly version: number
  readonly tasks: readonly DraftTask[]
}
export const planEditName = (missionId: string) => `plan:${missionId}`

interface Edge {
  readonly on: string
  readonly kind?: string
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')
const recordOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null ? (value as Json) : {}
const edgesOf = (value: unknown): Edge[] =>
  Array.isArray(value) ? value.map((edge) => (typeof edge === 'string' ? { on: edge } : (edge as Edge))) : []

const isJudge = (kind: unknown): kind is Judge => (JUDGES as readonly unknown[]).includes(kind)

export function draftOf(plan: unknown): DraftTask[] {
  const { tasks } = recordOf(plan)
  return (Array.isArray(tasks) ? tasks : []).map((one) => {
    const rest = recordOf(one)
    const { kind, agent, command } = recordOf(rest.verification)
    return {
      tempId: textOf(rest.tempId),
      title: textOf(rest.title),
      agent: textOf(rest.agent),
      preferredAgent: textOf(rest.preferredAgent),
      model: textOf(rest.model),
      after: edgesOf(rest.dependsOn)
        .map(({ on }) => on)
        .join(', '),
      judge: isJudge(kind) ? kind : 'none',
      judgeBy: textOf(kind === 'agent' ? agent : command),
      budgetUsd: textOf(recordOf(rest.budget).maxUsd),
      rest,
    }
  })
}

export const newTask = (taken: readonly DraftTask[]): DraftTask => {
  const ids = new Set(taken.map(({ tempId }) => tempId))
  let number = taken.length + 1
  while (ids.has(`task-${number}`)) number += 1
  const empty = { title: '', agent: '', preferredAgent: '', model: '', after: '', judgeBy: '', budgetUsd: '' }
  return { tempId: `task-${number}`, ...empty, judge: 'none', rest: {} }
}

/** The plan with what was edited. A field that became empty is left out. */
export function planWith(plan: unknown, tasks: readonly DraftTask[]): Json {
  return { ...recordOf(plan), tasks: tasks.map(written) }
}

function written(task: DraftTask): Json {
  const { rest } = task
  const after = task.after.split(/[\s,]+/).filter((on) => on !== '')
  const before = new Map(edgesOf(rest.dependsOn).map((edge) => [edge.on, edge]))
  // Whether an edge passes on a result stays as it was.
  const dependsOn = after.map((on) => (before.get(on)?.kind ? before.get(on) : on))
  // Edits that this browser has kept for long may have the old name.
  const { maxUsd: _before, limitUsd: _old, ...limits } = recordOf(rest.budget)
  const budget = { ...limits, ...(task.budgetUsd.trim() === '' ? {} : { maxUsd: task.budgetUsd.trim() }) }
  const edited = {
    tempId: task.tempId.trim(),
    title: task.title.trim(),
    agent: task.agent.trim(),
    preferredAgent: (task.preferredAgent ?? '').trim(),
    model: task.model.trim(),
    dependsOn: dependsOn.length > 0 ? dependsOn : '',
    verification: verificationOf(task),
    budget: Object.keys(budget).length > 0 ? budget : '',
  }
  return Object.fromEntries(Object.entries({ ...rest, ...edited }).filter(([, value]) => value !== ''))
}

function verificationOf({ judge, judgeBy, rest }: DraftTask): Json | '' {
  if (judge === 'none') return ''
  const { kind, agent: _agent, command: _command, ...more } = recordOf(rest.verification)
  const by = judge === 'agent' ? 'agent' : judge === 'command' ? 'command' : null
  const who = by !== null && judgeBy.trim() !== '' ? { [by]: judgeBy.trim() } : {}
  return { ...(kind === judge ? more : {}), kind: judge, ...who }
}

/** What the server refuses, by the place of the task in the plan; `null` for the plan as a whole. All at once. */
export function problemsByRow(error: unknown): Map<number | null, string[]> | null {
  if (!(error instanceof Problem) || error.code !== 'PLAN_INVALID') return null
  const { problems = [] } = error.body as { problems?: { at: string; message: string }[] }
  const rows = new Map<number | null, string[]>()
  for (const { at, message } of problems) {
    const [, place, field] = /^\/tasks\/(\d+)(?:\/(.+))?$/.exec(at) ?? []
    const row = place === undefined ? null : Number(place)
    const words = field === undefined ? message : `${field.replaceAll('/', ' ')} ${message}`
    rows.set(row, [...(rows.get(row) ?? []), words])
  }
  return rows
}
