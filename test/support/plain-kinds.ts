import { ALL } from '../../src/kinds/all.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import type { Stored, StoredKind } from '../../src/postgres/statements/stored-kind.ts'

const stored: [name: string, stored: Stored][] = await Promise.all(
  Object.entries(ALL).flatMap(([name, one]) =>
    'stored' in one ? [one.stored().then((found): [string, Stored] => [name, found])] : [],
  ),
)

/** Kinds that are the rows of one table: which, what the server may do with them, and whether upkeep looks for what is due. */
export const PLAIN_KINDS = stored.flatMap(([name, { due, ...one }]) => {
  const { plain } = one as Partial<StoredKind<KindName>>
  return plain ? [{ kind: name as KindName, ...plain, isTimed: due !== undefined }] : []
})
