import type { BudgetRecord } from '../../kinds/budget/record.ts'
import {
  type BudgetLeft,
  budgetsByScope,
  covering,
  expectedOf,
  leastLeft,
  roomForClaim,
  type SeenBudgets,
  type SeenOfBudgets,
} from '../../kinds/budget/rules/claims.ts'
import { turned } from '../../kinds/budget/rules/period.ts'
import {
  type Counted,
  type CountedBudget,
  countedBudget,
  type Expected,
  type Room,
  withReserved,
} from '../../kinds/budget/rules/room-for-claim.ts'
import type { Effects, TaskRecord } from '../../kinds/task/record.ts'
import type { SourceId } from '../../kinds/usage/record.ts'

/** What the claims of a batch reserve in budgets, and what is free again. */
export interface BudgetChanges {
  readonly reserved: readonly Reserved[]
  /** The claims that ended: what they had left is free. */
  readonly released: readonly SourceId[]
}

/** Most claims of a batch reserve the same in the same budgets. */
interface Reserved {
  readonly amount: Counted
  readonly budgetIds: readonly string[]
  readonly by: readonly { readonly holderId: string; readonly generation: number }[]
  readonly at: number
}

type Share = Pick<Reserved, 'amount' | 'budgetIds'>
type Claim = Effects['claims'][number]

/** The budgets of a batch. Without any in the workspace nothing is reserved, and nothing is released. */
export class BudgetBatch {
  readonly #seen: SeenBudgets | null
  readonly #now: number
  readonly #byScope: ReturnType<typeof budgetsByScope>
  readonly #counted = new Map<string, CountedOn>()
  readonly #hasOfTasks: boolean
  /** Most tasks are expected to use what others of their type are. */
  readonly #expected = new Map<string, Expected>()
  readonly #shares = new Map<Counted, Share[]>()
  /** By task. */
  readonly #reserved = new Map<string, { generation: number; share: Share }>()
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
    this.#byScope = seen ? budgetsByScope(seen) : new Map()
    this.#hasOfTasks = seen?.budgets.some(({ scope }) => scope === 'task') === true
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
  #found: Found | null = null

  /** Null: no budget covers it. The last claim of the task may have just been found to have ended. */
  #roomFor = (task: TaskRecord, agent: string): Room | null => {
    this.#countClaims()
    this.#found = this.#find(task, agent)
    return this.#found.room
  }

  #find(task: TaskRecord, agent: string): Found {
    const budgets = this.#seen ? this.#covering(task, agent).map(this.#countedNow) : []
    const room = budgets.length === 0 ? null : roomForClaim(budgets, this.#expectedOf(task, agent), this.#now)
    return { taskId: task.id, agent, room, budgets }
  }

  #left = (task: TaskRecord): BudgetLeft | null =>
    this.#seen && task.agent !== null ? leastLeft(this.#covering(task, task.agent).map(this.#turned)) : null

  count(claim: Claim, task: TaskRecord): void {
    if (!this.#seen) return
    if (claim.kind === 'opened') this.#reserve(claim, task)
    else this.#release({ sourceId: task.uuid, generation: claim.generation })
  }

  #reserve({ agent, generation }: Claim & { kind: 'opened' }, task: TaskRecord): void {
    const last = this.#found
    this.#found = null
    const isSame = last?.taskId === task.id && last.agent === agent
    const { room, budgets } = isSame ? last : this.#find(task, agent)
    if (room?.kind !== 'reserve') return
    const { amount } = room
    for (const { budget } of budgets) {
      const counted = this.#counted.get(budget.budgetId)!
      counted.now = withReserved(counted.now, amount)
      counted.added = {
        tokens: counted.added.tokens + amount.tokens,
        picos: counted.added.picos + amount.picos,
      }
    }
    this.#reserved.set(task.uuid, { generation, share: this.#shareOf(amount, budgets) })
  }

  #shareOf(amount: Counted, budgets: readonly CountedBudget[]): Share {
    const shares = this.#shares.get(amount) ?? []
    const isIt = ({ budgetIds }: Share) =>
      budgetIds.length === budgets.length && budgetIds.every((id, i) => id === budgets[i]!.budget.budgetId)
    const known = shares.find(isIt)
    if (known) return known
    const share = { amount, budgetIds: budgets.map(({ budget }) => budget.budgetId) }
    this.#shares.set(amount, [...shares, share])
    return share
  }

  /** A claim that this batch opened has nothing stored yet; its room in this batch stays taken. */
  #release(id: SourceId): void {
    if (this.#reserved.get(id.sourceId)?.generation === id.generation) this.#reserved.delete(id.sourceId)
    else this.#released.push(id)
  }

  #turned = (budget: BudgetRecord) => turned(budget, this.#seen!.timeZone, this.#now)

  /** As this batch has changed them, but for what it reserves. */
  #covering(task: TaskRecord, agent: string): readonly BudgetRecord[] {
    const found = this.#coveringAsSeen(task, agent)
    if (this.#changed.size === 0) return found
    return found.flatMap((seen) => {
      const changed = this.#changed.get(seen.budgetId)
      return changed === null ? [] : (changed ?? seen)
    })
  }

  /** What was looked for last: one agent claims many tasks of one project or mission. */
  #coveringLast: { task: TaskRecord; agent: string; found: readonly BudgetRecord[] } | null = null

  #coveringAsSeen(task: TaskRecord, agent: string): readonly BudgetRecord[] {
    const last = this.#coveringLast
    if (last && last.agent === agent && !this.#hasOfTasks && areCoveredAlike(last.task, task))
      return last.found
    const found = covering(this.#seen!, this.#byScope, task, agent)
    this.#coveringLast = { task, agent, found }
    return found
  }

  #countedNow = (budget: BudgetRecord): CountedBudget => {
    const known = this.#counted.get(budget.budgetId)
    if (known?.of === budget) return known.now
    const added = known?.added ?? { tokens: 0, picos: 0n }
    const now = withReserved(countedBudget(this.#turned(budget)), added)
    this.#counted.set(budget.budgetId, { of: budget, now, added })
    return now
  }

  #expectedOf({ id }: TaskRecord, agent: string): Expected {
    const task = this.#seen!.tasks.get(id)
    const name = `${agent} ${task?.taskType} ${task?.estimatedTokens} ${task?.complexity}`
    const known = this.#expected.get(name)
    if (known) return known
    const expected = expectedOf(this.#seen!, task, agent)
    this.#expected.set(name, expected)
    return expected
  }

  get changes(): BudgetChanges | null {
    if (this.#reserved.size + this.#released.length === 0) return null
    const by = new Map<Share, Reserved['by'][number][]>()
    for (const [holderId, { generation, share }] of this.#reserved) {
      const holders = by.get(share)
      if (holders) holders.push({ holderId, generation })
      else by.set(share, [{ holderId, generation }])
    }
    const reserved = Array.from(by, ([share, holders]) => ({ ...share, by: holders, at: this.#now }))
    return { reserved, released: this.#released }
  }
}

/** A budget as it is after the claims of the batch so far. */
interface CountedOn {
  /** The record that it was counted from. */
  of: BudgetRecord
  now: CountedBudget
  /** What this batch has reserved in it, also for claims that it has ended again. */
  added: Pick<Counted, 'tokens' | 'picos'>
}

interface Found {
  taskId: number
  agent: string
  /** Null: no budget covers it. */
  room: Room | null
  budgets: readonly CountedBudget[]
}

const areCoveredAlike = (a: TaskRecord, b: TaskRecord) =>
  a.missionId === b.missionId && a.projectId === b.projectId && a.purpose === b.purpose
