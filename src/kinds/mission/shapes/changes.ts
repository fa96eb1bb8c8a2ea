import { z } from 'zod'
import { Uuid } from '../../../pure/shapes.ts'
import { ChangesView } from '../../run/shapes/changes.ts'

/** What a mission has changed in the repositories of its agents, of the work that was accepted. */

const Branch = z.object({
  branch: z.string(),
  isThere: z.boolean().describe('False: the branch was removed or moved; its commit is still there'),
  commit: z.string(),
  taskId: Uuid,
  number: z.int().nullable().describe('In the plan'),
  title: z.string(),
  generation: z.int(),
  agent: z.string().nullable(),
})

const Conflict = z.object({
  branches: z
    .array(z.string())
    .describe(
      'Two that conflict with each other; one that conflicts with the base; or more, of which the last conflicts with the others together',
    ),
  withBase: z.boolean().describe('Whether the base is the other side: it has changed since'),
  files: z.array(z.string()).describe('The first 50'),
  fileCount: z.int(),
})

const RepositoryChanges = z.object({
  repository: z.string().describe('Its name: that of its folder, unique in this answer'),
  path: z.string().nullable().describe('Where it is; for keys with the right configure_agents'),
  base: z.string().describe('The commit that everything is compared with'),
  taskCount: z.int().describe('Tasks with accepted work here'),
  missingCount: z.int().describe('Tasks whose accepted work is no longer in the repository'),
  branches: z
    .array(Branch)
    .describe(
      'The accepted work that no other branch here contains: to merge them is to merge all. The first 1,000',
    ),
  branchCount: z.int(),
  conflicts: z.array(Conflict).describe('The first 100'),
  fileCount: z.int(),
  added: z.int().describe('Lines of all files'),
  deleted: z.int(),
  files: ChangesView.shape.files.describe(
    'From the base to all branches merged: the first 1,000. Where branches conflict, with the marks of git',
  ),
  diff: ChangesView.shape.diff,
  mergeCommands: z
    .array(z.string())
    .nullable()
    .describe('One for each branch; for keys with the right configure_agents'),
  cut: z.string().nullable().describe('What is not in this answer, because it would have taken too long'),
})

export const MissionChangesView = z.object({
  missionId: Uuid,
  taskCount: z.int(),
  withoutWork: z.int().describe('Tasks without accepted work in a repository'),
  isCut: z.boolean().describe('Whether more tasks have work than the 10,000 that are looked at'),
  repositories: z.array(RepositoryChanges),
  elsewhere: z
    .array(
      z.object({
        repository: z.string().nullable().describe('Null: it is not known any more'),
        node: z.string().nullable().describe('The same'),
        taskCount: z.int(),
      }),
    )
    .describe('Repositories that are not on this node'),
})
