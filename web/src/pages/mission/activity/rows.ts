import type { LiveEvent } from '../../../live/card.ts'
import type { Filter } from '../views.ts'
import { isPerson, taskOf } from './parts.ts'
import type { Group, Said } from './rule.ts'
import { RULES } from './sentences.ts'

/** The activity of a mission as rows, the newest first. Pure. */

export interface ActivityRow extends Said {
  seq: number
  at: string
  task: string | null
  run: string | null
}

const isIn = (filter: Filter, groups: readonly Group[]) => filter === 'all' || groups.includes(filter)

/** The types of events that a filter shows, as the server is asked for them. */
export function typesOf(filter: Filter): string {
  const types = Object.entries(RULES)
    .filter(([, rule]) => isIn(filter, rule.of))
    .map(([type]) => type)
  if (filter !== 'all') return types.join(',')
  // All of a mission's own: the list of types has a limit.
  return ['mission_*', ...types.filter((type) => !type.startsWith('mission_'))].join(',')
}

/** Whether this page tells about the event. */
export function isTold(filter: Filter, event: LiveEvent): boolean {
  const rule = RULES[event.type]
  if (!rule || !isIn(filter, rule.of)) return false
  if (filter === 'people' && !isPerson(event)) return false
  // Verifications and planning are told by what they decide about.
  return event.purpose === null || event.purpose === 'work'
}

const FAILURES: readonly string[] = ['task_failed', 'task_retrying']

/** Rows from events, given the oldest first. A run belongs to the row that says who took the task. */
export function rowsOf(filter: Filter, events: readonly LiveEvent[], isSimulated = false): ActivityRow[] {
  const rows: ActivityRow[] = []
  const taken = new Map<string, ActivityRow>()
  /** Runs whose task says already that they failed. */
  const told = new Set<string>()
  for (const event of events) {
    if (!isTold(filter, event)) continue
    const said = RULES[event.type]!.say(event, isSimulated)
    if (!said) continue
    const { seq, at, type, runId } = event
    const task = taskOf(event)
    if (type === 'run_finished' && runId !== null && told.has(runId)) continue
    if (runId !== null && FAILURES.includes(type)) told.add(runId)
    const before = type === 'run_started' && task !== null ? taken.get(task) : undefined
    if (before && before.run === null) {
      before.run = runId
      continue
    }
    const row = { ...said, seq, at, task, run: runId }
    if (type === 'task_assigned' && task !== null) taken.set(task, row)
    rows.push(row)
  }
  return rows.reverse()
}
