import type { Kind } from '../kind.ts'
import type { KindGranted } from '../replies.ts'
import type { ProjectRecord } from './record.ts'
import { decideProject, type ProjectCommand } from './rules.ts'

export interface ProjectTypes {
  record: ProjectRecord
  command: ProjectCommand
  granted: KindGranted & { readonly record: ProjectRecord }
  extra: object
}

declare module '../kind.ts' {
  interface KindTypes {
    project: ProjectTypes
  }
}

/** Projects, with their declared tracks. */
export const projectKind: Kind<ProjectTypes> = {
  keyOf: ({ slug }) => slug,
  holderOf: () => null,
  mayHoldBeforeItExists: false,
  counts: () => false,
  decide: (before, { key: slug, uuid }, command, context) => ({
    ...decideProject(before, { slug, uuid }, command, context),
    settle: () => null,
  }),
  granted: ({ record, before }) => ({ ok: true, reason: 'DONE', record: record!, isNew: before === null }),
}
