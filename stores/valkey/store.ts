import type { Redis } from 'ioredis'
import { trackName } from '../../src/kernel/batch/requests.ts'
import { roundRobin } from '../../src/kernel/store/round-robin.ts'
import type {
  BatchStep,
  BlockedTask,
  Committed,
  Direction,
  DueTask,
  DueVersion,
  Store,
  Walked,
} from '../../src/kernel/store/store.ts'
import type { PortableKind } from '../../src/kinds/kind.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { Blocked } from './blocked.ts'
import { ANSWER_WITHIN_MS, connection, redisUrl } from './connect.ts'
import { Due } from './due.ts'
import { Keys, sharedKeys } from './keys.ts'
import { Notices } from './notices.ts'
import { ValkeyReader } from './reads.ts'
import { assertDurable, assertFormat } from './ready.ts'
import { ValkeyTransactor } from './transact.ts'
import { ensureProject, ensureWorkspace, setTrack } from './workspaces.ts'

export interface ValkeyOptions {
  /** All keys begin with it, so that several Baton clusters can share a server. */
  prefix?: string
  /** When a connection that gives no answer is given up. */
  answerWithinMs?: number
}

/** Valkey or Redis, opened and checked: one connection for writing, one for reading, and one for listening if needed. */
export class ValkeyStore extends ValkeyReader implements Store {
  readonly kinds = { session: true } as const
  /** While one batch is written, the next is decided: two halves that take turns are faster than a whole. */
  readonly smallestFullBatch = 64
  readonly #writer: Redis
  readonly #shared: ReturnType<typeof sharedKeys>
  readonly #notices: Notices
  readonly #transactor: ValkeyTransactor
  readonly #due: Due
  readonly #blocked: Blocked

  private constructor(url: string, prefix: string, answerWithinMs: number) {
    const reader = connection(url, answerWithinMs)
    const known = new Map<number, Keys>()
    const keysOf = (workspaceId: number) => {
      let keys = known.get(workspaceId)
      if (!keys) {
        keys = new Keys(prefix, workspaceId)
        known.set(workspaceId, keys)
      }
      return keys
    }
    super(reader, keysOf)
    this.#writer = connection(url, answerWithinMs)
    this.#shared = sharedKeys(prefix)
    this.#notices = new Notices(this.#shared.commits, () => connection(url, answerWithinMs))
    this.#transactor = new ValkeyTransactor(this.#writer, keysOf, this.#notices)
    this.#due = new Due(reader, keysOf, this.#shared.workspaces)
    this.#blocked = new Blocked(reader, keysOf)
  }

  static async open(
    url: string,
    { prefix = 'baton', answerWithinMs = ANSWER_WITHIN_MS }: ValkeyOptions = {},
  ): Promise<ValkeyStore> {
    // Braces delimit the hash tag.
    if (prefix === '' || /[{}]/.test(prefix))
      throw new StartRefused('The prefix of the keys must be a name without braces.')
    const store = new ValkeyStore(redisUrl(url), prefix, answerWithinMs)
    try {
      await store.#connect(url)
      await store.ready()
      await assertFormat(store.#writer, store.#shared.format)
    } catch (error) {
      await store.close()
      throw error
    }
    return store
  }

  async #connect(url: string): Promise<void> {
    // The driver reports only that the connection is closed; the cause comes before, as an event.
    let cause: Error | undefined
    this.#writer.once('error', (error) => {
      cause = error
    })
    try {
      await Promise.all([this.#writer.connect(), this.reader.connect()])
    } catch (error) {
      const { message } = cause ?? (error as Error)
      throw new StartRefused(
        `The Valkey server at ${new URL(url).host} cannot be used: ${message.replace(/\.$/, '')}.`,
      )
    }
  }

  ready(): Promise<void> {
    return assertDurable(this.#writer)
  }

  transact<T>(workspaceId: number, step: BatchStep<T, PortableKind>): Promise<T> {
    return this.#transactor.transact(workspaceId, step)
  }

  workspace(name: string, limits: Partial<Limits> = {}): Promise<number> {
    return ensureWorkspace(this.#writer, this.#shared, this.keysOf, name, limits)
  }

  project(workspaceId: number, slug: string): Promise<number> {
    return ensureProject(this.#writer, this.keysOf(workspaceId), workspaceId, slug)
  }

  setTrack(workspaceId: number, projectId: number, track: string, maxAgents: number | null): Promise<void> {
    return setTrack(
      this.#writer,
      this.keysOf(workspaceId),
      workspaceId,
      trackName(projectId, track),
      maxAgents,
    )
  }

  dueTasks(limit: number, only?: number): Promise<DueVersion[]> {
    return this.#due.tasks(limit, only)
  }

  dueSessions(limit: number, only?: number) {
    return this.#due.sessions(limit, only)
  }

  heldUntouchedSince(workspaceId: number, before: number, limit: number): Promise<DueTask[]> {
    return this.#due.heldUntouchedSince(workspaceId, before, limit)
  }

  downstreamOf(workspaceId: number, taskIds: readonly number[]): Promise<BlockedTask[]> {
    return this.#blocked.downstreamOf(workspaceId, taskIds)
  }

  blockedFrom(
    workspaceId: number,
    taskIds: readonly number[],
    way: Direction,
    limit: number,
  ): Promise<Walked> {
    return this.#blocked.blockedFrom(workspaceId, taskIds, way, limit)
  }

  /** Notes are removed when there is nothing left to do, so the caller need not confirm. */
  async missedTasks(limit: number, only?: number): Promise<BlockedTask[]> {
    const found: BlockedTask[] = []
    for (const { workspaceId, share } of await this.#due.sharesOfNotes(limit, only))
      found.push(...(await this.#blocked.forgottenIn(workspaceId, share)))
    return roundRobin(found, limit)
  }

  /** Nothing to do: idempotency replies and claims of finished tasks have a TTL. */
  async applyRetention(): Promise<void> {}

  onCommit(listener: Committed): () => void {
    return this.#notices.listen(listener)
  }

  async close(): Promise<void> {
    this.#notices.close()
    this.#writer.disconnect()
    this.reader.disconnect()
  }
}
