const KEY = /^key:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/
const MOST_REMEMBERED = 100_000

type LookUp = (workspaceId: number, keyIds: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** Names of those who act. A key's name never changes and keys are never removed, so that one look is enough for each. */
export class ActorNames {
  readonly #lookUp: LookUp
  /** Null: no key of this workspace, such as the one that made the workspace. */
  readonly #known = new Map<string, string | null>()

  constructor(lookUp: LookUp) {
    this.#lookUp = lookUp
  }

  /** The name beside each of these actors; null where there is none but the actor itself. At most one look for all. */
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
      this.#remember(`${workspaceId}/key:${keyId}`, name)
    }
    return (actor) => names.get(actor) ?? null
  }

  #remember(actor: string, name: string | null): void {
    this.#known.set(actor, name)
    if (this.#known.size > MOST_REMEMBERED) this.#known.delete(this.#known.keys().next().value!)
  }
}
