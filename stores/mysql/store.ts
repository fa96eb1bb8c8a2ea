import type { BatchStep, Committed, Direction, Store } from '../../src/kernel/store/store.ts'
import type { PortableKind } from '../../src/kinds/kind.ts'
import type { Limits } from '../../src/kinds/workspace/limits.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { Pool } from './connect.ts'
import { TaskIds } from './ids.ts'
import { Notices } from './notices.ts'
import { Queues } from './queues.ts'
import { MysqlReader } from './reads.ts'
import { assertReady, factsOf, isMariadb, largestPacketOf } from './ready.ts'
import { migrate } from './schema/migrate.ts'
import { MysqlTransactor, type Server } from './transact.ts'
import { MysqlUpkeep } from './upkeep.ts'
import { projectOf, setTrack, workspaceNamed } from './workspaces.ts'

const WRITERS = 4
const READERS = 6

/**
 * An open MySQL or MariaDB store: checked to be safe, migrated to this version, with separate pools for writing and reading.
 */
export class MysqlStore extends MysqlReader implements Store {
  readonly kinds = { session: true } as const
  readonly #writers: Pool
  readonly #readers: Pool
  readonly #transactor: MysqlTransactor
  readonly #upkeep: MysqlUpkeep
  readonly #notices: Notices

  private constructor(writers: Pool, readers: Pool, server: Server) {
    super(readers, server)
    this.#writers = writers
    this.#readers = readers
    this.#notices = new Notices(readers)
    // Ids are read on the readers' connections: a writer that waits for ids must not need a second writer connection.
    this.#transactor = new MysqlTransactor(
      writers,
      server,
      new TaskIds(readers),
      new Queues(readers),
      this.#notices,
    )
    this.#upkeep = new MysqlUpkeep(readers, server)
  }

  static async open(url: string): Promise<MysqlStore> {
    const address = addressOf(url)
    const [writers, readers] = [new Pool(url, WRITERS), new Pool(url, READERS)]
    try {
      const facts = await factsOf(readers)
      assertReady(facts)
      for (const pool of [writers, readers]) pool.largestPacket = largestPacketOf(facts)
      await migrate(writers)
      const store = new MysqlStore(writers, readers, { isMariadb: isMariadb(facts) })
      await store.ready()
      return store
    } catch (error) {
      await Promise.allSettled([writers.close(), readers.close()])
      if (error instanceof StartRefused) throw error
      const reason = ((error as Error).message || String(error)).replace(/\.$/, '')
      throw new StartRefused(`The database cannot be used (${address}): ${reason}.`, { cause: error })
    }
  }

  async ready(): Promise<void> {
    assertReady(await factsOf(this.#readers))
  }

  transact<T>(workspaceId: number, step: BatchStep<T, PortableKind>): Promise<T> {
    return this.#transactor.transact(workspaceId, step)
  }

  workspace = (name: string, limits?: Partial<Limits>) => workspaceNamed(this.#readers, name, limits)
  project = (workspaceId: number, slug: string) => projectOf(this.#readers, workspaceId, slug)
  setTrack = (workspaceId: number, projectId: number, track: string, maxAgents: number | null) =>
    setTrack(this.#readers, workspaceId, projectId, track, maxAgents)

  dueTasks = (limit: number, only?: number) => this.#upkeep.dueTasks(limit, only)
  dueSessions = (limit: number, only?: number) => this.#upkeep.dueSessions(limit, only)
  heldUntouchedSince = (workspaceId: number, before: number, limit: number) =>
    this.#upkeep.heldUntouchedSince(workspaceId, before, limit)
  downstreamOf = (workspaceId: number, taskIds: readonly number[]) =>
    this.#upkeep.downstreamOf(workspaceId, taskIds)
  missedTasks = (limit: number, only?: number) => this.#upkeep.missedTasks(limit, only)
  blockedFrom = (workspaceId: number, taskIds: readonly number[], way: Direction, limit: number) =>
    this.#upkeep.blockedFrom(workspaceId, taskIds, way, limit)
  applyRetention = () => this.#upkeep.applyRetention()

  onCommit(listener: Committed): () => void {
    return this.#notices.listen(listener)
  }

  async close(): Promise<void> {
    this.#notices.close()
    await Promise.all([this.#writers.close(), this.#readers.close()])
  }
}

/** For people: without the password. */
function addressOf(url: string): string {
  const { protocol, host, pathname } = URL.canParse(url) ? new URL(url) : new URL('none:')
  if (!/^(mysql|mariadb):$/.test(protocol) || pathname.length < 2)
    throw new StartRefused('The database URL must be like mysql://user:password@host:3306/database.')
  return `${protocol}//${host}${pathname}`
}
