import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { BEAT_EVERY_MS, type NodeIdentity, type ServerStore } from '../store/server-store.ts'
import { StoreUnavailable } from '../store/store.ts'

/** This process among those on the database: it says that it is there, for as long as it is. */
export class Node {
  readonly id: string
  readonly name: string
  readonly #store: ServerStore
  readonly #identity: NodeIdentity
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> = Promise.resolve()
  #isStopped = false

  private constructor(store: ServerStore, identity: NodeIdentity) {
    this.id = identity.nodeId
    this.name = identity.name
    this.#store = store
    this.#identity = identity
  }

  static async start(
    store: ServerStore,
    about: Omit<NodeIdentity, 'nodeId' | 'name' | 'pid'> & { name?: string | undefined },
  ) {
    const { pid } = process
    // New in each life: what an earlier life of this process held is not this one's.
    const nodeId = randomUUID()
    const node = new Node(store, { ...about, nodeId, name: about.name ?? `${hostname()}-${pid}`, pid })
    await store.cluster.register(node.#identity)
    node.#beatLater()
    return node
  }

  /** Says that it is gone, so that nobody wonders. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    // A beat that came after the farewell would look like life.
    await this.#beating
    await this.#store.cluster.stopped(this.id).catch((error: unknown) => {
      // Its silence will tell.
      if (!(error instanceof StoreUnavailable)) throw error
    })
  }

  #beatLater(): void {
    if (this.#isStopped) return
    // Never at the same pace as the others, who may have been started with it.
    this.#timer = setTimeout(
      () => {
        this.#beating = this.#beat()
          // Whatever it was: the next beat is the second try.
          .catch(() => undefined)
          .finally(() => this.#beatLater())
      },
      BEAT_EVERY_MS * (0.75 + Math.random() / 2),
    )
    this.#timer.unref()
  }

  async #beat(): Promise<void> {
    const isKnown = await this.#store.cluster.heartbeat(this.id)
    if (!isKnown) await this.#store.cluster.register(this.#identity)
  }
}
