import { z } from 'zod'
import { Uuid } from './common.ts'

/** What a run, and the others of the same generation of its task, did to a repository. */
export const ChangesView = z.object({
  runId: Uuid,
  branch: z.string(),
  baseCommit: z.string().describe('What the work is compared with'),
  commit: z.string().nullable().describe('The last commit of the work'),
  isUncommittedIncluded: z
    .boolean()
    .describe('Whether the worktree still exists, so that its files are compared'),
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
    .describe('With path: its unified diff, at most 256 kB of it'),
  folder: z.string().nullable().describe('Where the work is; for keys with the right configure_agents'),
  mergeCommand: z.string().nullable().describe('The same'),
})
