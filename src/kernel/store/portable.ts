import type { PortableKind, SeenOf } from '../../kinds/kind.ts'
import type * as requests from '../batch/requests.ts'

/** The shapes of batches for stores that hold tasks and sessions and no other kind of record. */

export type ReadSet = requests.ReadSet<PortableKind>
export type View = requests.View<PortableKind>
export type Changes = requests.Changes<PortableKind>
export type SeenSession = SeenOf<'session'>
