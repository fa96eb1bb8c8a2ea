import type { EventWithOrigin } from '../../events.ts'
import { shownWakeup, type Wakeup, type WakeupRecord } from '../record.ts'
import { movedWakeup, NEW } from '../states.ts'
import { aboutName, keyedName, NOTHING_ASKED, NOTHING_CHANGED, type RunsStep, type RunsView } from './step.ts'
import { countsTowardsCap, decideWakeup, type WakeupCause, type WakeupDecision } from './wakeups.ts'

/** Requests to wake agents, decided one after the other: later ones see what the earlier ones queued. */

export interface WakeupRequest {
  agent: string
  asked: WakeupCause
}

/** Each request with its outcome; null for agents that do not exist. */
export function requestWakeups(requests: readonly WakeupRequest[]): RunsStep<(Wakeup | null)[]> {
  const about = new Map(
    requests.map(({ agent, asked: { task } }) => {
      const taskId = task?.id ?? 0
      return [aboutName(agent, taskId), { agent, taskId }]
    }),
  )
  return {
    on: 'runs',
    reads: {
      ...NOTHING_ASKED,
      agents: [...new Set(requests.map(({ agent }) => agent))].sort(),
      wakeups: { about: [...about.values()], firstDueOf: [] },
      keys: requests.flatMap(({ agent, asked: { idempotencyKey: key } }) =>
        key === null ? [] : [{ agent, key }],
      ),
    },
    decide: (view) => new Requests(view).all(requests),
  }
}

class Requests {
  readonly #view: RunsView
  readonly #new = new Map<string, WakeupRecord>()
  /** Wakeups from before this batch that others were coalesced into, and which of their fields changed. */
  readonly #changed = new Map<string, { record: WakeupRecord; set: Partial<WakeupRecord> }>()
  readonly #queued = new Map<string, string>()
  readonly #woken = new Map<string, number>()
  readonly #keyed = new Map<string, string>()
  readonly #events: EventWithOrigin[] = []

  constructor(view: RunsView) {
    this.#view = view
  }

  all(requests: readonly WakeupRequest[]) {
    const ids = requests.map((request) => this.#decide(request))
    const answer = ids.map((id) => (id === null ? null : shownWakeup(this.#record(id))))
    const changes = {
      ...NOTHING_CHANGED,
      newWakeups: [...this.#new.values()],
      wakeups: [...this.#changed].map(([id, { set }]) => ({ id, set })),
      events: this.#events,
    }
    return { answer, changes }
  }

  /** The id of the wakeup that answers the request. */
  #decide({ agent: slug, asked }: WakeupRequest): string | null {
    const { now, agents, runtime, about } = this.#view
    const agent = agents.get(slug)
    const kept = runtime.get(slug)
    const first = this.#firstUnder(slug, asked.idempotencyKey)
    if (!agent || !kept || first !== null) return first
    const name = aboutName(slug, asked.task?.id ?? 0)
    const { waiting, running, recently } = about.get(name)!
    const queued = this.#queued.get(name) ?? waiting?.id
    const decision = decideWakeup(asked, {
      now,
      agent,
      waiting: queued === undefined ? null : this.#record(queued),
      running: running && this.#record(running.id),
      recently: recently + (this.#woken.get(name) ?? 0),
      lastStartedAt: kept.lastStartedAt,
      parkedUntil: kept.parkedUntil,
      isStopped: this.#view.stoppedAgents.has(slug),
    })
    this.#events.push(...decision.events)
    this.#new.set(asked.id, newWakeup(slug, asked, decision, now))
    if (decision.status === 'coalesced') this.#coalesce(decision, asked)
    if (decision.status === 'queued') this.#queued.set(name, asked.id)
    if (decision.status === 'queued' && countsTowardsCap(asked))
      this.#woken.set(name, (this.#woken.get(name) ?? 0) + 1)
    if (asked.idempotencyKey !== null) this.#keyed.set(keyedName(slug, asked.idempotencyKey), asked.id)
    return asked.id
  }

  /** A request that repeats an idempotency key is answered with the first one. */
  #firstUnder(agent: string, key: string | null): string | null {
    if (key === null) return null
    const name = keyedName(agent, key)
    return this.#keyed.get(name) ?? this.#view.keyed.get(name)?.id ?? null
  }

  /** As it is now, with everything that this batch changed. */
  #record(id: string): WakeupRecord {
    const known = this.#new.get(id) ?? this.#changed.get(id)?.record
    if (known) return known
    for (const { waiting, running } of this.#view.about.values())
      for (const found of [waiting, running]) if (found?.id === id) return found
    for (const found of this.#view.keyed.values()) if (found.id === id) return found
    throw new Error(`wakeup ${id} was not read`)
  }

  #coalesce(decision: Extract<WakeupDecision, { status: 'coalesced' }>, asked: WakeupCause): void {
    const into = this.#record(decision.into)
    const set: Partial<WakeupRecord> = {
      coalescedCount: into.coalescedCount + 1,
      source: asked.source,
      triggerDetail: asked.triggerDetail,
      reason: asked.reason,
      ...(asked.payload !== undefined && { payload: asked.payload }),
      priority: Math.max(into.priority, decision.priority),
      generation: asked.task?.generation ?? into.generation,
      depth: Math.min(into.depth, asked.depth),
      // One whose run is live is no longer due.
      ...(into.status === 'queued' && { dueAt: Math.min(into.dueAt, decision.dueAt) }),
    }
    const record = { ...into, ...set }
    if (this.#new.has(into.id)) this.#new.set(into.id, record)
    else this.#changed.set(into.id, { record, set: { ...this.#changed.get(into.id)?.set, ...set } })
  }
}

const EVENT_OF = {
  queued: 'wakeup_requested',
  coalesced: 'wakeup_coalesced',
  skipped: 'wakeup_skipped',
} as const

const newWakeup = (
  agent: string,
  asked: WakeupCause,
  decision: WakeupDecision,
  now: number,
): WakeupRecord => ({
  id: asked.id,
  agent,
  source: asked.source,
  triggerDetail: asked.triggerDetail,
  reason: asked.reason,
  payload: asked.payload ?? null,
  status: movedWakeup(EVENT_OF[decision.status], NEW, decision.status),
  skipReason: decision.status === 'skipped' ? decision.because : null,
  coalescedCount: 0,
  intoId: decision.status === 'coalesced' ? decision.into : null,
  requestedBy: asked.actor,
  taskUuid: asked.task?.uuid ?? null,
  taskId: asked.task?.id ?? 0,
  generation: asked.task?.generation ?? null,
  depth: asked.depth,
  runId: null,
  requestedAt: now,
  dueAt: decision.status === 'skipped' ? now : decision.dueAt,
  claimedAt: null,
  finishedAt: decision.status === 'queued' ? null : now,
  error: null,
  idempotencyKey: asked.idempotencyKey,
  priority: decision.status === 'skipped' ? 0 : decision.priority,
  isContinuation: asked.isContinuation,
})
