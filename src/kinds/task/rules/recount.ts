import { type EventWithOrigin, workspaceEvent } from '../../events.ts'
import type { SourceId } from '../../usage/record.ts'

/**
 * Counters, compared with what they count. Both are written in one transaction, so that a difference is a fault: it is corrected
 * under the lock that every write of what they count needs, and never silently.
 */

/** Amounts of dollars are exact, as text. */
export type Counters = Readonly<Record<string, number | string>>

export interface RecountAsk {
  /**
   * Of a workspace: its active claims, or its tasks by state. Of a project: its tasks. Of a mission: its tasks, or what was used for it.
   * Of a run or a claim: what it has used.
   */
  of:
    | 'claims'
    | 'tasks'
    | { projectId: number }
    | { missionId: number }
    | { usedFor: number }
    | { usedBy: SourceId }
  /** Leader terms, under which the coordinator acts: they last until this is written. */
  terms: readonly number[]
}

export interface RecountView {
  /** The store's clock, read after the locks. */
  now: number
  /** As they are stored, under their lock; null: there are none. */
  stored: Counters | null
  counted: Counters
  terms: ReadonlySet<number>
}

export interface RecountChanges {
  /** All counters as they are to be; null: they stay. */
  set: Counters | null
  events: readonly EventWithOrigin[]
}

/** The answer: whether they were wrong. */
export interface RecountStep<T = boolean> {
  on: 'counters'
  reads: RecountAsk
  decide: (view: RecountView) => { answer: T; changes: RecountChanges }
}

interface WrongCounter {
  name: string
  stored: number | string
  counted: number | string
}

export function recount(
  of: RecountAsk['of'],
  counter: string,
  sentence: (wrong: readonly WrongCounter[]) => string,
): RecountStep {
  return {
    on: 'counters',
    reads: { of, terms: [] },
    decide({ now, stored, counted }) {
      const wrong = Object.entries(counted).flatMap(([name, is]) =>
        stored === null || stored[name] === is ? [] : [{ name, stored: stored[name]!, counted: is }],
      )
      if (wrong.length === 0) return { answer: false, changes: { set: null, events: [] } }
      const event = workspaceEvent(
        'counters_corrected',
        { counter, error: sentence(wrong) },
        { actor: 'system', now },
      )
      return { answer: true, changes: { set: counted, events: [event] } }
    },
  }
}

export const recountClaims = recount('claims', 'COUNTER_DRIFT', ([wrong]) =>
  wrong ? `The counter of active claims was ${wrong.stored}, but there are ${wrong.counted}.` : '',
)

export const recountTasks = recount('tasks', 'COUNTER_DRIFT', (wrong) => {
  const each = wrong.map(({ name, stored, counted }) => `${name} ${stored} instead of ${counted}`)
  return `The numbers of tasks by state were wrong: ${each.join(', ')}.`
})

export const recountProject = (projectId: number): RecountStep =>
  recount({ projectId }, 'COUNTER_DRIFT', (wrong) => {
    const each = wrong.map(({ name, stored, counted }) => `${name} ${stored} instead of ${counted}`)
    return `The numbers of tasks of a project were wrong: ${each.join(', ')}.`
  })

export const recountMission = ({ missionId, uuid }: { missionId: number; uuid: string }): RecountStep =>
  recount({ missionId }, 'MISSION_COUNTER_DRIFT', (wrong) => {
    const each = wrong.map(({ name, stored, counted }) => `${name} was ${stored}, but there are ${counted}`)
    return `The counters of mission ${uuid} were wrong: ${each.join('; ')}.`
  })
