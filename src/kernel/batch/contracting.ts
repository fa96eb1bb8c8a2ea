import type { AgentTypes } from '../../kinds/agent/kind.ts'
import type { AgentRecord } from '../../kinds/agent/record.ts'
import { contracted, whyNotContracted } from '../../kinds/agent/rules/contractor.ts'
import type { NewContractor } from '../../kinds/agent/rules/contractors.ts'
import type { Actor, Effects } from '../../kinds/task/record.ts'
import type { Refusal } from '../../pure/errors.ts'
import type { KindBatch } from './kind-batch.ts'
import type { View } from './requests.ts'

/** Contractors, created in the transaction of the tasks that are reserved for them. */
export class Contracting {
  readonly #view: View
  readonly #agents: KindBatch<AgentTypes>
  readonly #effects: Effects

  constructor(view: View, agents: KindBatch<AgentTypes>, effects: Effects) {
    this.#view = view
    this.#agents = agents
    this.#effects = effects
  }

  whyNot(wanted: readonly NewContractor[]): Refusal | null {
    for (const one of wanted) {
      const refusal = whyNotContracted(one, this.#agent(one.slug), this.#agent(one.template))
      if (refusal) return refusal
    }
    return null
  }

  /** Those that do not exist yet. */
  make(wanted: readonly NewContractor[], actor: Actor): void {
    const { now } = this.#view
    for (const one of wanted) {
      if (this.#agent(one.slug)) continue
      const { record, events } = contracted(one, this.#agent(one.template)!, { now, actor })
      this.#agents.set(record.slug, record)
      this.#effects.events.push(...events)
    }
  }

  /** As it was read, without a lock, or as this batch has left it. */
  #agent(slug: string): AgentRecord | null {
    const changed = this.#agents.changed.get(slug)
    return changed === undefined ? (this.#view.agents.get(slug) ?? null) : changed
  }
}
