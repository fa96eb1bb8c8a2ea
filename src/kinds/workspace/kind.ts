import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import { type LimitUse, THE_WORKSPACE, type WorkspaceRecord } from './record.ts'
import { decideWorkspace, type WorkspaceCommand } from './rules.ts'

export interface WorkspaceTypes {
  record: WorkspaceRecord
  command: WorkspaceCommand
  granted: KindGranted & { readonly record: WorkspaceRecord }
  extra: { used: LimitUse }
}

declare module '../kind.ts' {
  interface KindTypes {
    workspace: WorkspaceTypes
  }
}

/** The workspace itself: there is always one record. */
export const workspaceKind: Kind<WorkspaceTypes> = {
  keyOf: () => THE_WORKSPACE,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, _identity, command, { now, origin, seen }) => ({
    ...decideWorkspace(before!, command, { now, origin, used: seen!.used }),
    settle: () => null,
  }),
  granted: ({ record }) => ({ ok: true, reason: 'DONE', record: record!, isNew: false }),
}
