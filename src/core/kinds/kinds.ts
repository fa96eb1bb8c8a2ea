import { type AgentTypes, agentKind } from './agent/kind.ts'
import type { KindShape, KindView, Seen } from './kind.ts'
import { type MissionTypes, missionKind } from './mission/kind.ts'
import { type RoutineTypes, routineKind } from './routine/kind.ts'
import { type SessionTypes, sessionKind } from './session/kind.ts'

/** All kinds of records beside tasks. A new kind is added here, in a folder of its own, and in the stores that hold it. */
export const KINDS = {
  session: sessionKind,
  agent: agentKind,
  mission: missionKind,
  routine: routineKind,
} as const

export interface KindTypes {
  session: SessionTypes
  agent: AgentTypes
  mission: MissionTypes
  routine: RoutineTypes
}

export type KindName = keyof typeof KINDS
/** The kinds that every store holds. */
export type PortableKind = 'session'

export type SeenOf<K extends KindName> = Seen<KindTypes[K]>
export type KindViews<K extends KindName> = { readonly [N in K]: KindView<KindTypes[N]> }
/** Records that are new or changed, whole, and the keys of those that are removed. */
export interface KindChanges<T extends KindShape = KindShape> {
  written: T['record'][]
  removed: string[]
}

/** The same for each kind. */
export const byKind = <T>(value: (kind: KindName) => T) =>
  Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, value(kind as KindName)])) as Record<KindName, T>

const nothing = { seen: new Map(), counted: 0 }
/** For stores that do not hold a kind. */
export const NO_RECORDS: KindViews<KindName> = {
  session: nothing,
  agent: nothing,
  mission: nothing,
  routine: nothing,
}
