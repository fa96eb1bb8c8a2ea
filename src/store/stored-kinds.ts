import type { Changes, ReadSet, View } from '../kernel/batch/requests.ts'
import { ALL as ALL_KINDS, KIND_NAMES, NO_RECORDS } from '../kinds/all.ts'
import type { KindName } from '../kinds/kind.ts'
import type { TaskRecord } from '../kinds/task/record.ts'
import type { Pipeline } from '../postgres/statements/pipeline.ts'
import type { Bound } from '../postgres/statements/statements.ts'
import type { Limiting, Stored, StoredKind } from '../postgres/statements/stored-kind.ts'

/** All kinds, as Postgres holds them. */
const STORED: readonly [name: string, stored: Stored][] = await Promise.all(
  Object.entries(ALL_KINDS).flatMap(([name, one]) =>
    'stored' in one ? [one.stored().then((stored): [string, Stored] => [name, stored])] : [],
  ),
)

/** Those with records that batches decide, in the order of the list. */
const ALL = KIND_NAMES.map(
  (kind) => [kind, STORED.find(([name]) => name === kind)![1] as StoredKind<KindName>] as const,
)

/** What the server may do with the tables of all kinds. */
export const KIND_GRANTS: Readonly<Record<string, string>> = Object.assign(
  {},
  ...STORED.map(([, { tables }]) => tables),
)

/** The earliest times that upkeep acts on. */
export const EARLIEST_DUE: readonly string[] = STORED.flatMap(([, { due = [] }]) => due)

export const FIRST_COME: readonly string[] = ALL.flatMap(([, { firstCome = [] }]) => firstCome)

/** Whether records of any kind are to change. */
export const namesRecords = ({ kinds, missions }: ReadSet) =>
  missions.length > 0 || KIND_NAMES.some((kind) => kinds[kind].length > 0)

/** In the order of the list of kinds, in which all transactions lock. */
export const askForKinds = (pipeline: Pipeline, readSet: ReadSet) =>
  ALL.map(([kind, stored]) => [kind, stored.ask(pipeline, readSet)] as const)

const NO_LIMITING: Limiting = { workers: new Map(), claimingAgents: new Map() }

/** Null: nothing was asked for, since nothing is to change and nothing limits those that claim. */
export function readKinds(
  asked: ReturnType<typeof askForKinds> | null,
  records: ReadonlyMap<number, TaskRecord>,
): Pick<View, 'kinds'> & Limiting {
  if (!asked) return { kinds: NO_RECORDS, ...NO_LIMITING }
  const views: Partial<Record<KindName, unknown>> = {}
  const limiting = { ...NO_LIMITING }
  for (const [kind, read] of asked) {
    const found = read?.(records)
    if (!found) continue
    views[kind] = found.view
    Object.assign(limiting, found.limiting)
  }
  return { kinds: { ...NO_RECORDS, ...views } as View['kinds'], ...limiting }
}

type Part = 'writeFirst' | 'write' | 'checks'

function boundIn(part: Part) {
  const having = ALL.map(([, stored]) => stored).filter((stored) => stored[part])
  return (workspaceId: number, view: View, changes: Changes): Bound[] => {
    const all: Bound[] = []
    for (const stored of having) all.push(...stored[part]!(workspaceId, view, changes))
    return all
  }
}

export const kindWritesBeforeTasks = boundIn('writeFirst')
export const kindWrites = boundIn('write')
export const kindChecks = boundIn('checks')
