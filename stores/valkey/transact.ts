import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Changes, ReadSet, View } from '../../src/kernel/store/portable.ts'
import { type BatchStep, StoreUnavailable, type Transactor } from '../../src/kernel/store/store.ts'
import type { PortableKind } from '../../src/kinds/kind.ts'
import { asUnavailable, connected, isFromServer } from './connect.ts'
import type { Give } from './handed-out.ts'
import { InOrder } from './in-order.ts'
import type { Keys } from './keys.ts'
import { KnownWorkspaces } from './known-workspaces.ts'
import type { Notices } from './notices.ts'
import { readResults } from './read-more.ts'
import { readView } from './read-view.ts'
import type { KeptResult } from './results.ts'
import { Script } from './script.ts'
import type { Seen } from './seen.ts'
import { type TasksAfter, tasksAfter } from './tasks-after.ts'
import { PASS, SETTLE, WRITE } from './write.lua.ts'
import { isNothing, resultsToRead, writesOf } from './writes.ts'

const write = new Script(WRITE)
const pass = new Script(PASS)
const settle = new Script(SETTLE)

/** After this the caller is asked to retry. Writers that wait for the lock get it long before. */
const GIVE_UP_AFTER_MS = 20_000
/** How long to try to find out whether a write whose answer was lost was done. */
const SETTLE_WITHIN_MS = 3_000
/** The server accepts few more in one command; it would close the connection. */
const MOST_ARGUMENTS = 1_000_000
const ASK_FOR_LOCK_EVERY_MS = [1, 4] as const

const NO_RESULTS: ReadonlyMap<number, readonly KeptResult[]> = new Map()

/** What is to be written, under a name by which a later read finds out whether it was. */
interface Writes {
  name: string
  commands: readonly string[]
  give: Give
  after: TasksAfter
}

type Decide<T> = (view: View) => { answer: T; changes: Changes }
type Settled = 'written' | 'void' | 'unknown'
type Written = 'written' | 'changed' | 'late' | 'locked'

/**
 * A transaction is a read, a decision and a write. It is optimistic: the write is done only if the last write to the
 * workspace, its head, is still the one that was read; otherwise the transaction reads and decides again. A process that
 * dies between the two leaves nothing behind. Processes that lose races queue for the writer lock (writer-lock.lua.ts).
 *
 * In this process the transactions of a workspace run in order: a read is sent as soon as the previous write is, on the
 * same connection, where the server runs one after the other. So they never lose a race to each other.
 * Where all that a batch needs is known (known.ts), there is no read, and its write follows the one it was decided on.
 */
export class ValkeyTransactor implements Transactor {
  readonly #client: Redis
  readonly #keysOf: (workspaceId: number) => Keys
  readonly #notices: Notices
  readonly #inOrder = new InOrder()
  readonly #known = new KnownWorkspaces()
  /** The last write of each workspace that was sent. */
  readonly #lastWrites = new Map<number, Promise<Written>>()
  readonly #token = randomUUID()
  #transactions = 0

  constructor(client: Redis, keysOf: (workspaceId: number) => Keys, notices: Notices) {
    this.#client = client
    this.#keysOf = keysOf
    this.#notices = notices
  }

  async transact<T>(workspaceId: number, { reads: readSet, decide }: BatchStep<T, PortableKind>): Promise<T> {
    const giveUpAt = performance.now() + GIVE_UP_AFTER_MS
    for (let insists = false; ; insists = true) {
      const done = await this.#attempt(workspaceId, readSet, decide, insists, giveUpAt)
      if (done) return done.answer
      if (performance.now() > giveUpAt)
        throw new StoreUnavailable('Other processes wrote first on every attempt.')
    }
  }

  /** Null when another process wrote first. */
  async #attempt<T>(
    workspaceId: number,
    readSet: ReadSet,
    decide: Decide<T>,
    insists: boolean,
    giveUpAt: number,
  ): Promise<{ answer: T } | null> {
    const keys = this.#keysOf(workspaceId)
    const leave = await this.#inOrder.enter(workspaceId)
    try {
      const known = insists ? null : this.#known.seenFor(workspaceId, readSet)
      let seen = known ?? (await this.#read(keys, workspaceId, readSet, insists, giveUpAt))
      let decided = await this.#decide(workspaceId, seen, decide)
      // Only a write proves that what is known is still true. An answer that changes nothing needs a read.
      if (known && decided.writes === null) {
        seen = await this.#read(keys, workspaceId, readSet, insists, giveUpAt)
        decided = await this.#decide(workspaceId, seen, decide)
      }
      const { answer, changes, writes } = decided
      if (writes === null) return { answer }
      const written = this.#write(keys, workspaceId, seen, writes)
      this.#known.wrote(workspaceId, seen, writes.after, changes, writes.name)
      leave()
      if ((await written) !== 'written') {
        this.#known.lost(workspaceId)
        return null
      }
      this.#notices.send(workspaceId, changes)
      return { answer }
    } catch (error) {
      this.#known.forget(workspaceId)
      throw error
    } finally {
      leave()
    }
  }

  async #read(
    keys: Keys,
    workspaceId: number,
    readSet: ReadSet,
    insists: boolean,
    giveUpAt: number,
  ): Promise<Seen> {
    // The read was not consistent, or another process has the writer lock: either way, others write a lot.
    for (let insisting = insists; ; insisting = true) {
      const ahead = insisting ? 1 : this.#known.batchesAhead(workspaceId)
      const how = { token: this.#token, insists: insisting, ahead }
      const read = await readView(this.#client, keys, workspaceId, readSet, how)
      if (read) {
        this.#known.read(workspaceId, keys, read, readSet)
        return read.seen
      }
      if (performance.now() > giveUpAt) throw new StoreUnavailable('Other processes hold the writer lock.')
      await sleep(randomInt(...ASK_FOR_LOCK_EVERY_MS))
    }
  }

  /**
   * The commands to write, or null if there is nothing to write. If it ends without a write, the writer lock is passed on.
   */
  async #decide<T>(workspaceId: number, seen: Seen, decide: Decide<T>) {
    const keys = this.#keysOf(workspaceId)
    let writes: Writes | null = null
    try {
      const { answer, changes } = decide(seen.view)
      if (!isNothing(changes)) {
        const toRead = resultsToRead(changes, seen)
        const results = toRead.length === 0 ? NO_RESULTS : await readResults(this.#client, keys, seen, toRead)
        const name = `${this.#token}:${++this.#transactions}`
        const after = tasksAfter(seen, results, changes)
        const { commands, give } = writesOf(keys, seen, after, changes, name)
        commands.push(...this.#notices.commandFor(workspaceId, changes))
        if (commands.length > MOST_ARGUMENTS)
          throw new RangeError('The change is too large for one transaction.')
        writes = { name, commands, give, after }
      }
      return { answer, changes, writes }
    } finally {
      if (seen.hasWriterLock && writes === null)
        await pass
          .run(this.#client, [keys.writerLock, keys.writerQueue], [this.#token])
          .catch(() => undefined)
    }
  }

  /** Sent when this returns; resolves when the outcome is known. */
  #write(keys: Keys, workspaceId: number, seen: Seen, writes: Writes): Promise<Written> {
    const before = this.#lastWrites.get(workspaceId)
    const written = this.#send(keys, workspaceId, seen, writes, before)
    this.#lastWrites.set(workspaceId, written)
    const forget = () => {
      if (this.#lastWrites.get(workspaceId) === written) this.#lastWrites.delete(workspaceId)
    }
    written.then(forget, forget)
    return written
  }

  async #send(
    keys: Keys,
    workspaceId: number,
    seen: Seen,
    { name, commands, give }: Writes,
    before: Promise<Written> | undefined,
  ): Promise<Written> {
    const transaction = keys.transaction(name)
    const { head, view } = seen
    if (this.#client.status !== 'ready') throw new StoreUnavailable('The connection was lost.')
    try {
      const [outcome, answers = [], now] = await write.run<[Written, unknown[]?, number?]>(
        this.#client,
        [keys.meta, keys.writerLock, keys.writerQueue, transaction],
        [this.#token, head, String(view.now)],
        commands,
      )
      if (outcome === 'written') {
        this.#known.setClock(workspaceId, now!)
        give(answers)
      }
      return outcome
    } catch (error) {
      if (isFromServer(error)) throw asUnavailable(error)
      // A connection that gives no answer gives none to later commands either.
      if (this.#client.status === 'ready') this.#client.disconnect(true)
      // While the previous write may still be done, so may this one.
      await before
      return this.#settle(keys, transaction, seen, error)
    }
  }

  /** The answer was lost. It may have been written or may still be in transit; the script makes it one or the other. */
  async #settle(keys: Keys, transaction: string, { head, view }: Seen, lost: unknown): Promise<Written> {
    const giveUpAt = performance.now() + SETTLE_WITHIN_MS
    let outcome: Settled | null = null
    while (outcome === null && performance.now() < giveUpAt && this.#client.status !== 'end')
      try {
        await connected(this.#client)
        const asked = [head, String(view.now), randomUUID()]
        outcome = await settle.run<Settled>(this.#client, [keys.meta, transaction], asked)
      } catch {
        await sleep(50)
      }
    if (outcome === 'written') return 'written'
    if (outcome === 'void') return 'changed'
    throw new StoreUnavailable('The connection was lost, and it is unknown whether the change was written.', {
      cause: lost,
    })
  }
}
