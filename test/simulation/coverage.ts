import type { StoredEvent } from '../../src/kinds/events.ts'
import { TASK_TRANSITIONS, type TransitionName } from '../../src/pure/states.ts'
import type { Reply } from '../support/replies.ts'

type Counts = Map<string, number>
const raise = (counts: Counts, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

/** How often each thing happened over all runs: a simulation that never reaches something proves nothing about it. */
export class Coverage {
  /** `task_failed from verifying` and the like. */
  readonly transitions: Counts = new Map()
  readonly replies: Counts = new Map()
  readonly faults: Counts = new Map()
  readonly batches: Counts = new Map()
  readonly endings: Counts = new Map()
  /** Events that change no task's state, and how claims end. */
  readonly notes: Counts = new Map()

  event({ type, from, to, payload }: StoredEvent): void {
    if (to !== null && from !== null) raise(this.transitions, `${type} from ${from}`)
    if (to === null) raise(this.notes, type)
    if (type === 'task_requeued') raise(this.notes, `requeued: ${payload.because}`)
  }

  reply = (reply: Reply) => void raise(this.replies, reply.ok ? String(reply.reason) : String(reply.code))

  fault(name: string): void {
    raise(this.faults, name)
  }

  batch(kind: 'batched' | 'combined', size: number): void {
    raise(this.batches, `${kind} ${size}`)
  }

  ending(state: string): void {
    raise(this.endings, state)
  }

  /** What another simulation took of the same table. */
  addTransitions({ transitions }: Coverage): void {
    for (const [name, count] of transitions)
      this.transitions.set(name, (this.transitions.get(name) ?? 0) + count)
  }

  /** Transitions of the table that no run has taken. */
  get missedTransitions(): string[] {
    return allTransitions().filter((name) => !this.transitions.has(name))
  }

  toString(): string {
    const sections = { ...this } as Record<string, unknown>
    return Object.entries(sections)
      .filter((entry): entry is [string, Counts] => entry[1] instanceof Map)
      .map(([title, counts]) => `${title}\n${columns(counts)}`)
      .join('\n')
  }
}

const allTransitions = () =>
  (Object.keys(TASK_TRANSITIONS) as TransitionName[]).flatMap((name) =>
    TASK_TRANSITIONS[name].from.map((from) => `${name} from ${from}`),
  )

const columns = (counts: Counts) =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `  ${String(count).padStart(9)}  ${name}`)
    .join('\n')
