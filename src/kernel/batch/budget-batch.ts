import type { BudgetRecord } from '../../kinds/budget/record.ts'
import {
  type BudgetLeft,
  covering,
  leastLeft,
  roomForClaim,
  type SeenBudgets,
  type SeenOfBudgets,
} from '../../kinds/budget/rules/claims.ts'
import type { Amount, Room } from '../../kinds/budget/rules/room.ts'
import type { Effects, TaskRecord } from '../../kinds/task/record.ts'
import type { Reservation, SourceId } from '../../kinds/usage/record.ts'
import { sumOfDollars } from '../../pure/money.ts'

/** What the claims of a batch reserve in budgets, and what is free again. */
export interface BudgetChanges {
  readonly reserved: readonly Reservation[]
  /** The claims that ended: what they had left is free. */
  readonly released: readonly SourceId[]
}

type Claim = Effects['claims'][number]

/** The budgets of a batch. Without any in the workspace nothing is reserved, and nothing is released. */
export class BudgetBatch {
  readonly #seen: SeenBudgets | null
  readonly #now: number
  /** By budget: what this batch has reserved in it. */
  readonly #added = new Map<string, Amount>()
  readonly #reserved = new Map<string, Reservation>()
  readonly #released: SourceId[] = []

  /** Counts the claims that this batch has opened and ended so far. */
  readonly #countClaims: () => void

  /** Budgets as this batch has left them; null: removed. */
  readonly #changed: ReadonlyMap<string, BudgetRecord | null>

  constructor(
    seen: SeenBudgets | null,
    now: number,
    countClaims: () => void,
    changed: ReadonlyMap<string, BudgetRecord | null>,
  ) {
    this.#seen = seen
    this.#now = now
    this.#countClaims = countClaims
    this.#changed = changed
  }

  get isEmpty(): boolean {
    return this.#seen === null
  }

  get seenByRules(): SeenOfBudgets {
    return this.isEmpty ? {} : { roomFor: this.#roomFor, budgetLeft: this.#left }
  }

  /** The room that was found last: the claim that it was for reserves it next, and nothing has changed in between. */
  #found: { taskId: number; agent: string; room: Room | null; budgets: readonly BudgetRecord[] } | null = null

  /** Null: no budget covers it. The last claim of the task may have just been found to have ended. */
  #roomFor = (task: TaskRecord, agent: string): Room | null => {
    this.#countClaims()
    this.#found = this.#find(task, agent)
    return this.#found.room
  }

  #find(task: TaskRecord, agent: string) {
    const budgets = this.#seen ? this.#covering(task, agent) : []
    const room = budgets.length === 0 ? null : roomForClaim(budgets, this.#seen!, task, agent, this.#now)
    return { taskId: task.id, agent, room, budgets }
  }

  #left = (task: TaskRecord): BudgetLeft | null =>
    this.#seen && task.agent !== null ? leastLeft(this.#covering(task, task.agent)) : null

  count(claim: Claim, task: TaskRecord): void {
    if (!this.#seen) return
    if (claim.kind === 'opened') this.#reserve(claim, task)
    else this.#release({ sourceId: task.uuid, generation: claim.generation })
  }

  #reserve({ agent, generation, at }: Claim & { kind: 'opened' }, task: TaskRecord): void {
    const last = this.#found
    this.#found = null
    const isSame = last?.taskId === task.id && last.agent === agent
    const { room, budgets } = isSame ? last : this.#find(task, agent)
    if (room?.kind !== 'reserve') return
    const { tokens, usd } = room.amount
    const budgetIds = budgets.map(({ budgetId }) => budgetId)
    for (const id of budgetIds) {
      const before = this.#added.get(id) ?? { tokens: 0, usd: '0' }
      this.#added.set(id, { tokens: before.tokens + tokens, usd: sumOfDollars(before.usd, usd) })
    }
    this.#reserved.set(`${task.uuid}/${generation}`, {
      ...{ holderId: task.uuid, generation, budgetIds, tokens, usd },
      ...{ stepTokens: tokens, stepUsd: usd, reservedAt: at },
    })
  }

  /** A claim that this batch opened has nothing stored yet; its room in this batch stays taken. */
  #release(id: SourceId): void {
    if (!this.#reserved.delete(`${id.sourceId}/${id.generation}`)) this.#released.push(id)
  }

  #covering = (task: TaskRecord, agent: string): BudgetRecord[] =>
    covering(this.#seen!, task, agent, this.#now).flatMap((seen) => {
      const { budgetId } = seen
      const budget = this.#changed.has(budgetId) ? this.#changed.get(budgetId) : seen
      if (!budget) return []
      const added = this.#added.get(budgetId)
      if (!added) return budget
      return {
        ...budget,
        reservedTokens: budget.reservedTokens + added.tokens,
        reservedUsd: sumOfDollars(budget.reservedUsd, added.usd),
      }
    })

  get changes(): BudgetChanges | null {
    const reserved = [...this.#reserved.values()]
    return reserved.length + this.#released.length === 0 ? null : { reserved, released: this.#released }
  }
}
