/** Live output of agents, for current watchers. Nothing is kept here: the log has all output, by offset. */

export interface OutputChunk {
  workspaceId: number
  runId: string
  agent: string
  stream: 'stdout' | 'stderr' | 'system'
  chunk: string
  /** Its start in the log. */
  offset: number
}

/** Of which runs of a workspace the output is wanted. */
export type Followed = 'all' | readonly string[]

type Listener = (chunk: OutputChunk) => void

/** A reader of output, wherever the runs are. */
export interface Follower {
  change(followed: Followed): void
  close(): void
}

export class LiveOutput {
  readonly #listeners = new Set<Listener>()
  readonly #senders = new Set<Listener>()
  readonly #followers = new Map<Follower, { workspaceId: number; followed: Followed }>()
  readonly #demandListeners = new Set<(workspaceId: number) => void>()

  /** Output of a run on this node. */
  publish(chunk: OutputChunk): void {
    this.show(chunk)
    for (const send of this.#senders) send(chunk)
  }

  /** Output of a run on another node. */
  show(chunk: OutputChunk): void {
    for (const listener of this.#listeners) listener(chunk)
  }

  onOutput(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Output of this node alone: what other nodes may want. */
  onPublished(send: Listener): () => void {
    this.#senders.add(send)
    return () => this.#senders.delete(send)
  }

  /** Asks for output until it is closed. */
  follow(workspaceId: number, followed: Followed): Follower {
    const notify = () => this.#demandListeners.forEach((listener) => void listener(workspaceId))
    const follower: Follower = {
      change: (next) => {
        this.#followers.set(follower, { workspaceId, followed: next })
        notify()
      },
      close: () => {
        if (this.#followers.delete(follower)) notify()
      },
    }
    follower.change(followed)
    return follower
  }

  /** Called when readers of a workspace want something else. */
  onDemand(listener: (workspaceId: number) => void): () => void {
    this.#demandListeners.add(listener)
    return () => this.#demandListeners.delete(listener)
  }

  /** What the readers of this node want, by workspace; those that want nothing are left out. */
  demand(): Map<number, Followed> {
    const wanted = new Map<number, Followed>()
    for (const { workspaceId, followed } of this.#followers.values()) {
      if (followed.length === 0) continue
      const before = wanted.get(workspaceId) ?? []
      const isAll = before === 'all' || followed === 'all'
      wanted.set(workspaceId, isAll ? 'all' : [...new Set([...before, ...followed])])
    }
    return wanted
  }
}

export const isFollowed = (followed: Followed | undefined, runId: string) =>
  followed === 'all' || (followed?.includes(runId) ?? false)
