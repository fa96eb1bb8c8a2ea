import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ServerStore } from '../door/server-store.ts'
import { StoreUnavailable } from '../kernel/store/store.ts'
import { HEARTBEAT_EVERY_MS, type NodeIdentity } from '../postgres/cluster/nodes.ts'

/** This process as a node of the cluster: registered in the database, with a heartbeat until it stops. */
export class Node {
  readonly id: string
  readonly name: string
  readonly #store: ServerStore
  readonly #identity: NodeIdentity
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> = Promise.resolve()
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
    // New at each start: what an earlier process held does not belong to this one.
    const nodeId = randomUUID()
    const node = new Node(store, { ...about, nodeId, name: about.name ?? `${hostname()}-${pid}`, pid })
    await store.cluster.register(node.#identity)
    node.#scheduleHeartbeat()
    return node
  }

  /** Records that the node stopped, so that it does not count as lost. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    // A heartbeat after the stop would make the node look alive.
    await this.#sending
    await this.#store.cluster.stopped(this.id).catch((error: unknown) => {
      // The store is unreachable; the missing heartbeats show that the node stopped.
      if (!(error instanceof StoreUnavailable)) throw error
    })
  }

  #scheduleHeartbeat(): void {
    if (this.#isStopped) return
    // Jitter: other nodes may have started at the same time.
    this.#timer = setTimeout(
      () => {
        this.#sending = this.#heartbeat()
          // Whatever the error, the next heartbeat is the retry.
          .catch(() => undefined)
          .finally(() => this.#scheduleHeartbeat())
      },
      HEARTBEAT_EVERY_MS * (0.75 + Math.random() / 2),
    )
    this.#timer.unref()
  }

  async #heartbeat(): Promise<void> {
    const isKnown = await this.#store.cluster.heartbeat(this.id)
    if (!isKnown) await this.#store.cluster.register(this.#identity)
  }
}
