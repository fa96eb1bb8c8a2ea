import { z } from 'zod'
import { ChangesView } from '../shapes/changes.ts'
import { Path } from '../shapes/common.ts'
import { RunParams } from '../shapes/runs.ts'
import { endpoint } from './endpoint.ts'

export const readChanges = endpoint({
  method: 'GET',
  path: '/runs/:id/changes',
  summary: 'Read what a run did to the repository of its agent: files, and the diff of one of them',
  description:
    'Compares the branch of the generation, and its worktree while that exists, with the commit it started from.',
  tag: 'runs',
  needs: 'read',
  params: RunParams,
  query: z.strictObject({
    path: Path.optional().describe('One of the files: its diff is in the answer'),
  }),
  answer: ChangesView,
})
