import type { Changes, ReadSet, View } from '../kernel/batch/requests.ts'
import { sessionsOf } from '../kernel/store/assemble-view.ts'
import { byKind, KIND_NAMES, KINDS, NO_RECORDS } from '../kinds/all.ts'
import type { Kind, KindName, KindShape, KindTypes, KindView, SeenOf } from '../kinds/kind.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import { type LimitUse, THE_WORKSPACE } from '../kinds/workspace/record.ts'
import { isTerminal } from '../pure/states.ts'
import { countedFor } from './budgets.ts'
import { lockedMissions, writeMissions } from './missions.ts'
import { lockedRoutines, writeRoutines } from './routines.ts'
import { sessionIn } from './view-parts.ts'
import { activeSessions, agentsOf, copyOf, removeAgent, type Workspace } from './workspace.ts'

/** How the memory store holds one kind of record. */
interface MemoryKind<K extends KindName> {
  /** `show` gives the rules the tasks that a record holds. */
  look(workspace: Workspace, readSet: ReadSet, show: (task: TaskRecord) => void): KindView<KindTypes[K]>
  write(workspace: Workspace, changes: Changes): void
}

/** A kind whose records are in a map of their own. Commands see all of them. */
const plain = <K extends KindName>(kind: K): MemoryKind<K> => ({
  look({ plain }, { kinds }) {
    if (kinds[kind].length === 0) return NO_RECORDS[kind]
    const records = plain[kind] as Map<string, KindTypes[K]['record']>
    const seen = new Map([...records].map(([key, record]) => [key, { record: copyOf(record), holding: [] }]))
    return { seen, counted: 0 } as never
  },
  write({ plain }, changes) {
    const records = plain[kind] as Map<string, KindTypes[K]['record']>
    const { written, removed } = changes.kinds[kind]
    const { keyOf } = KINDS[kind] as unknown as Kind<KindShape>
    for (const record of written) records.set(keyOf(record), record)
    for (const key of removed) records.delete(key)
  },
})

/** The kinds that need more than a map. */
const SPECIAL: { readonly [K in KindName]?: MemoryKind<K> } = {
  session: {
    look: (workspace, { kinds }, show) => ({
      seen: sessionsOf(kinds.session, (name) => sessionIn(workspace, name, show)),
      counted: activeSessions(workspace),
    }),
    write(workspace, { kinds }) {
      for (const record of kinds.session.written) workspace.sessions.set(record.name, record)
    },
  },
  agent: {
    look: (workspace, { kinds }, show) => ({ seen: agentsOf(workspace, kinds.agent, show), counted: 0 }),
    write(workspace, { kinds }) {
      for (const record of kinds.agent.written) workspace.agents.set(record.slug, record)
      for (const slug of kinds.agent.removed) removeAgent(workspace, slug)
    },
  },
  mission: {
    look: (workspace, readSet) => ({ seen: lockedMissions(workspace, readSet), counted: 0 }),
    write: writeMissions,
  },
  routine: {
    look: (workspace, readSet) => ({ seen: lockedRoutines(workspace, readSet), counted: 0 }),
    write: writeRoutines,
  },
  budget: {
    look: (workspace, readSet) => {
      const view = plain('budget').look(workspace, readSet, () => undefined)
      const seen = [...view.seen].map(
        ([id, one]) => [id, { ...one, counted: countedFor(workspace, one.record) }] as const,
      )
      return { ...view, seen: new Map(seen) }
    },
    write: (workspace, changes) => plain('budget').write(workspace, changes),
  },
  signIn: {
    // Each key has a record.
    look: ({ plain }, { kinds }) => {
      const seen = new Map<string, SeenOf<'signIn'>>()
      for (const keyId of kinds.signIn) {
        const key = plain.key.get(keyId)
        const ends = [key?.expiresAt, key?.revokedAt].filter((at) => at != null)
        const record = plain.signIn.get(keyId) ?? {
          keyId,
          signedInAt: null,
          links: [],
          sessions: [],
          tickets: [],
        }
        if (key)
          seen.set(keyId, { record, holding: [], keyEndsAt: ends.length > 0 ? Math.min(...ends) : null })
      }
      return { seen, counted: 0 }
    },
    write({ plain }, { kinds }) {
      for (const record of kinds.signIn.written) plain.signIn.set(record.keyId, { ...record, tickets: [] })
    },
  },
  workspace: {
    look: (workspace, { kinds }) =>
      kinds.workspace.length === 0
        ? NO_RECORDS.workspace
        : {
            seen: new Map([
              [
                THE_WORKSPACE,
                { record: { limits: workspace.limits }, holding: [], used: limitUse(workspace) },
              ],
            ]),
            counted: 0,
          },
    write(workspace, { kinds }) {
      for (const { limits } of kinds.workspace.written) workspace.limits = limits
    },
  },
}

const limitUse = (workspace: Workspace): LimitUse => ({
  maxConcurrentClaims: workspace.activeClaims,
  maxActiveSessions: activeSessions(workspace),
  maxGenerationsPerTask: Math.max(
    0,
    ...[...workspace.tasks.values()]
      .filter(({ state }) => !isTerminal(state))
      .map(({ generation }) => generation),
  ),
})

const HELD = byKind((kind) => (SPECIAL[kind] ?? plain(kind)) as MemoryKind<KindName>)

export const lookAtKinds = (
  workspace: Workspace,
  readSet: ReadSet,
  show: (task: TaskRecord) => void,
): View['kinds'] => byKind((kind) => HELD[kind].look(workspace, readSet, show)) as unknown as View['kinds']

export function writeKinds(workspace: Workspace, changes: Changes): void {
  for (const kind of KIND_NAMES) HELD[kind].write(workspace, changes)
}
