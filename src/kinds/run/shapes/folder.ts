import { z } from 'zod'

/** The folder of a run: where it worked, what it began with, and what became of its work. Stored with the run and shown. */

const LEFT_OUT = [
  'too_large',
  'too_many',
  'too_much',
  'secret',
  'secret_name',
  'filter',
  'repository',
  'unreadable',
  'special_file',
  'refused_by_git',
] as const

const UNFINISHED = ['merge', 'rebase', 'am', 'cherry_pick', 'revert', 'bisect', 'conflict'] as const

const Saved = z.object({
  commit: z.string().describe('Everything that was done, as far as it was not left out'),
  committedFiles: z.int().describe('Files that Baton committed; 0: the agent had committed everything'),
  leftOut: z
    .array(
      z.object({
        path: z.string(),
        why: z.enum(LEFT_OUT),
        bytes: z.number().optional(),
        files: z.int().optional(),
      }),
    )
    .describe('Files that are not in the commit: the first of them. They are still in the folder'),
  leftOutCount: z.int(),
  unfinished: z
    .object({ kind: z.enum(UNFINISHED), commit: z.string(), ref: z.string() })
    .nullable()
    .describe('A merge or rebase that the agent did not finish; it is still in the folder'),
})

const Figures = z.object({
  commits: z.int(),
  filesChanged: z.int(),
  insertions: z.int(),
  deletions: z.int(),
})

export const RunFolder = z.object({
  path: z.string(),
  worktree: z
    .object({
      root: z.string(),
      repository: z.string(),
      branch: z.string(),
      baseCommit: z.string().describe('What the whole work of the task is compared with'),
    })
    .nullable()
    .describe('Null: a plain folder'),
  conflicts: z
    .array(
      z.object({
        title: z.string(),
        branch: z.string(),
        files: z.array(z.string()),
        commit: z.string().default(''),
      }),
    )
    .optional()
    .describe('Upstream work that conflicts with the rest; the agent is asked to merge it'),
  continues: z
    .object({ generation: z.int(), agent: z.string(), commit: z.string(), isSameFolder: z.boolean() })
    .nullish()
    .describe('The earlier work that it began with'),
  missing: z.string().nullish().describe('Earlier work that it could not begin with'),
  saved: Saved.nullish().describe('Null: nothing was saved'),
  notSaved: z.string().nullish().describe('Why the work could not be saved'),
  work: z
    .object({ whole: Figures, attempt: Figures })
    .nullish()
    .describe('What changed since the base, and in this attempt'),
  cleaned: z
    .object({ isRemoved: z.boolean(), why: z.string().nullable(), isBranchDeleted: z.boolean() })
    .nullish(),
})
export type RunFolder = z.output<typeof RunFolder>

/** Runs of earlier versions have other fields: what is not understood counts as missing. */
export function runFolderOf(stored: unknown): RunFolder | null {
  if (stored === null || stored === undefined) return null
  const parsed = RunFolder.safeParse(stored)
  if (parsed.success) return parsed.data
  const { path, worktree } = stored as { path?: unknown; worktree?: unknown }
  const bare = RunFolder.safeParse({ path, worktree })
  return bare.success ? bare.data : null
}
