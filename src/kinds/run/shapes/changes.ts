import { z } from 'zod'
import { Uuid } from '../../../pure/shapes.ts'
import { RunFolder } from './folder.ts'

export const ChangesSince = z
  .enum(['base', 'attempt'])
  .describe('The whole work of the task, or what is new since the attempt before')

/** What a run did to a repository. */
export const ChangesView = z.object({
  runId: Uuid,
  taskId: Uuid.nullable(),
  generation: z.int().nullable(),
  branch: z.string(),
  baseCommit: z.string().describe('What the whole work of the task is compared with'),
  since: ChangesSince,
  from: z.string().describe('What the work is compared with here'),
  commit: z.string().describe('The last commit of the work'),
  isUncommittedIncluded: z
    .boolean()
    .describe('Whether the run is in progress, so that its files are compared'),
  fileCount: z.int(),
  added: z.int().describe('Lines of all files'),
  deleted: z.int(),
  files: z
    .array(
      z.object({
        path: z.string(),
        oldPath: z.string().nullable().describe('Of a renamed or copied file'),
        status: z.enum(['added', 'modified', 'deleted', 'renamed', 'copied', 'type_changed', 'unmerged']),
        added: z.int().nullable().describe('Lines; null: it is binary, or not tracked yet'),
        deleted: z.int().nullable(),
        isBinary: z.boolean(),
        isTracked: z.boolean(),
      }),
    )
    .describe('The first 1,000'),
  diff: z
    .object({ path: z.string(), text: z.string(), isCut: z.boolean(), isBinary: z.boolean() })
    .nullable()
    .describe(
      'With path: its unified diff; with diff=whole: that of all files, and an empty path. At most 256 kB of it',
    ),
  leftOut: RunFolder.shape.saved.unwrap().unwrap().shape.leftOut,
  leftOutCount: z.int(),
  unfinished: z.string().nullable().describe('A merge, a rebase: it is not part of the work'),
  missing: z.string().nullable().describe('Earlier work that the run could not begin with'),
  folder: z.string().nullable().describe('Where the work is; for keys with the right configure_agents'),
  mergeCommand: z.string().nullable().describe('The same'),
})
