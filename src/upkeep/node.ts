import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { ServerStore } from '../door/server-store.ts'
import { StoreUnavailable } from '../kernel/store/store.ts'
import { HEARTBEAT_EVERY_MS, type NodeIdentity, type NodeLoad } from '../postgres/cluster/nodes.ts'

/** This process as a node of the cluster: registered in the database, with a heartbeat until it stops. */
export class Node {
  readonly id: string
  readonly name: string
  readonly #store: ServerStore
  readonly #identity: NodeIdentity
  #timer: NodeJS.Timeout | undefined
  readonly #load = new Load()
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
    const inMs = HEARTBEAT_EVERY_MS * (0.75 + Math.random() / 2)
    const due = performance.now() + inMs
    this.#timer = setTimeout(() => {
      this.#load.noteLateness(performance.now() - due)
      this.#sending = this.#heartbeat()
        // Whatever the error, the next heartbeat is the retry.
        .catch(() => undefined)
        .finally(() => this.#scheduleHeartbeat())
    }, inMs)
    this.#timer.unref()
  }

  async #heartbeat(): Promise<void> {
    const isKnown = await this.#store.cluster.heartbeat(this.id, this.#load.sinceLast())
    if (!isKnown) await this.#store.cluster.register(this.#identity)
  }
}

/** How busy this process is, told with its heartbeats: nothing is measured in between. */
class Load {
  #at = performance.now()
  #used = process.cpuUsage()
  #lagMs = 0

  /** A timer came so much later than it was set for: the event loop was busy. */
  noteLateness(ms: number): void {
    this.#lagMs = Math.max(0, ms)
  }

  sinceLast(): NodeLoad {
    const [now, used] = [performance.now(), process.cpuUsage()]
    const micros = used.user - this.#used.user + used.system - this.#used.system
    const cpu = micros / 1000 / Math.max(now - this.#at, 1)
    this.#at = now
    this.#used = used
    return { cpu, lagMs: this.#lagMs }
  }
}
