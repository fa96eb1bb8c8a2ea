import type { RunStore } from '../../../src/kernel/store/run-store.ts'
import type { Committed } from '../../../src/kernel/store/store.ts'
import { MemoryRunStore } from '../../../src/memory/run-store.ts'
import type { MemoryDecision } from '../../../src/memory/store.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import type { Random } from '../random.ts'
import type { Scheduler } from '../scheduler.ts'
import { NodeDied, type Pauses, type Transaction } from '../transaction-pauses.ts'

/** The memory store, where every transaction belongs to a process that may die at each of its waits. */
export class PausingRunMemory extends MemoryRunStore {
  /** On whose behalf the next call is made; a transaction begins without a wait after it. */
  caller!: Transaction
  readonly #pauses: Pauses

  /** `behindMs`: how far its clock is behind that of the nodes. */
  constructor(scheduler: Scheduler, random: Random, pauses: Pauses, behindMs = 0) {
    super({
      now: () => scheduler.now - behindMs,
      random: () => random.next(),
      pause: (where) => pauses.pause(where),
    })
    this.#pauses = pauses
  }

  /** What its clock shows. */
  clock = () => this.now()

  /** Everything as it is committed. */
  whole = (workspaceId: number): Workspace => this.inside(workspaceId)

  protected override changed<T>(
    workspaceId: number,
    decide: (workspace: Workspace) => MemoryDecision<T>,
    terms?: readonly number[],
  ): Promise<T> {
    const transaction = this.caller
    this.#pauses.entering = transaction
    const decideAlive = (workspace: Workspace) => {
      if (transaction.abandoned && !transaction.committing) throw new NodeDied()
      const decided: MemoryDecision<T> = decide(workspace)
      this.#pauses.deciding = transaction
      return decided
    }
    return super.changed(workspaceId, decideAlive, terms)
  }
}

/** A process that uses the store. */
export interface StoreUser {
  readonly name: string
  readonly isAlive: () => boolean
  /** A transaction of this process, until it ends. */
  begin(): Transaction
  end(transaction: Transaction): void
  /** How long the answer to a read is on its way. */
  readMs(): number
}

const never = () => new Promise<never>(() => undefined)

/** The store as one process sees it. A process that died gets no answer, and what it asks for afterwards never happens. */
export function storeOf(memory: PausingRunMemory, user: StoreUser, scheduler: Scheduler): RunStore {
  const onCommit = (listener: Committed) =>
    memory.onCommit((...told) => {
      if (user.isAlive()) listener(...told)
    })
  const asked = async (name: string, ask: () => unknown) => {
    if (!user.isAlive()) return never()
    if (name !== 'transact') {
      const answer = await ask()
      await scheduler.sleep(user.readMs(), `${user.name} has read ${name}`)
      return user.isAlive() ? answer : never()
    }
    const transaction = user.begin()
    memory.caller = transaction
    try {
      const answer = await ask()
      return user.isAlive() ? answer : never()
    } catch (error) {
      return user.isAlive() ? Promise.reject(error) : never()
    } finally {
      user.end(transaction)
    }
  }
  const seen = (part: object): unknown => {
    const known = new Map<string, unknown>([['onCommit', onCommit]])
    const look = (name: string) => {
      const member = Reflect.get(part, name, part) as unknown
      if (typeof member === 'function')
        return (...args: unknown[]) => asked(name, () => member.apply(part, args))
      return typeof member === 'object' && member !== null ? seen(member) : member
    }
    return new Proxy(part, {
      get(_, name: string) {
        if (!known.has(name)) known.set(name, look(name))
        return known.get(name)
      },
    })
  }
  return seen(memory) as RunStore
}
