import { type AgentTypes, agentKind } from './agent/kind.ts'
import { type KeyTypes, keyKind } from './key/kind.ts'
import type { KindShape, KindView, Seen } from './kind.ts'
import { type MissionTypes, missionKind } from './mission/kind.ts'
import { type ProjectTypes, projectKind } from './project/kind.ts'
import { type RoutineTypes, routineKind } from './routine/kind.ts'
import { type SessionTypes, sessionKind } from './session/kind.ts'
import { type SignInTypes, signInKind } from './sign-in/kind.ts'
import { type WorkspaceTypes, workspaceKind } from './workspace/kind.ts'

/**
 * All kinds of records beside tasks, in the order in which their records are locked. A new kind is added here, in a folder of its
 * own, and in the stores that hold it.
 */
export const KINDS = {
  session: sessionKind,
  agent: agentKind,
  mission: missionKind,
  routine: routineKind,
  project: projectKind,
  key: keyKind,
  signIn: signInKind,
  workspace: workspaceKind,
} as const

export interface KindTypes {
  session: SessionTypes
  agent: AgentTypes
  mission: MissionTypes
  routine: RoutineTypes
  project: ProjectTypes
  key: KeyTypes
  signIn: SignInTypes
  workspace: WorkspaceTypes
}

export type KindName = keyof typeof KINDS
/** What a command on a record of each kind grants. */
export type GrantedOf = { [K in KindName]: KindTypes[K]['granted'] }
/** The kinds that every store holds. */
export type PortableKind = 'session'

export type SeenOf<K extends KindName> = Seen<KindTypes[K]>
export type KindViews<K extends KindName> = { readonly [N in K]: KindView<KindTypes[N]> }
/** Records that are new or changed, whole, and the keys of those that are removed. */
export interface KindChanges<T extends KindShape = KindShape> {
  written: T['record'][]
  removed: string[]
}

/** In the order in which their records are locked. */
export const KIND_NAMES = Object.keys(KINDS) as KindName[]

/** The same for each kind. */
export const byKind = <T>(value: (kind: KindName) => T) =>
  Object.fromEntries(KIND_NAMES.map((kind) => [kind, value(kind)])) as Record<KindName, T>

const nothing = { seen: new Map(), counted: 0 }
/** What a batch reads of kinds that it does not name, and of kinds that its store does not hold. */
export const NO_RECORDS: KindViews<KindName> = byKind(() => nothing)
export const NO_KEYS: Readonly<Record<KindName, string[]>> = byKind(() => [])
export const NO_CHANGES = byKind(() => ({ written: [], removed: [] })) as unknown as {
  readonly [K in KindName]: KindChanges<KindTypes[K]>
}
