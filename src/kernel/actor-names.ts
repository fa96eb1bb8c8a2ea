const KEY = /^key:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
const MOST_CACHED = 100_000

type LookUp = (workspaceId: number, keyIds: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** Display names of actors. A key's name never changes and keys are never deleted, so one lookup per key is enough. */
export class ActorNames {
  readonly #lookUp: LookUp
  /** Null: not a key of this workspace, such as the key that created the workspace. */
  readonly #known = new Map<string, string | null>()

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp
  }

  /** The display name of each actor; null when it has none. At most one lookup for all. */
  async of(workspaceId: number, actors: readonly string[]): Promise<(actor: string) => string | null> {
    const names = new Map<string, string | null>()
    const unknown = new Set<string>()
    for (const actor of new Set(actors)) {
      const keyId = KEY.exec(actor)?.[1]
      if (keyId === undefined) continue
      const known = this.#known.get(`${workspaceId}/${actor}`)
      if (known === undefined) unknown.add(keyId)
      else names.set(actor, known)
    }
    const found = unknown.size > 0 ? await this.#lookUp(workspaceId, [...unknown]) : new Map()
    for (const keyId of unknown) {
      const name = found.get(keyId) ?? null
      names.set(`key:${keyId}`, name)
      this.#cache(`${workspaceId}/key:${keyId}`, name)
    }
    return (actor) => names.get(actor) ?? null
  }

  #cache(actor: string, name: string | null): void {
    this.#known.set(actor, name)
    if (this.#known.size > MOST_CACHED) this.#known.delete(this.#known.keys().next().value!)
  }
}
