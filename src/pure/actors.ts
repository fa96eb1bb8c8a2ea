export const ACTOR_KINDS = ['key', 'agent', 'hook', 'coordinator', 'system', 'other'] as const
type ActorKind = (typeof ACTOR_KINDS)[number]

/** "agent:dev-1" in its parts. Agents and hooks are shown by the name in it, keys by their name. */
export function actorIn(actor: string, name: string | null) {
  const [, given, id = null] = /^([a-z]+)(?::(.*))?$/s.exec(actor) ?? []
  const kind = ACTOR_KINDS.find((one) => one === given) ?? 'other'
  return { kind: kind as ActorKind, id, name: name ?? (kind === 'agent' || kind === 'hook' ? id : null) }
}
