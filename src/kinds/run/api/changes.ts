import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { Digits, IdParams, Name, Path } from '../../../pure/shapes.ts'
import { MissionChangesView } from '../../mission/shapes/changes.ts'
import { MissionParams } from '../../mission/shapes/missions.ts'
import { DiscardAnswer, DiscardBody } from '../../task/shapes/discard.ts'
import { ChangesSince, ChangesView } from '../shapes/changes.ts'
import { RunParams } from '../shapes/runs.ts'

const query = {
  path: Path.optional().describe('One of the files: its diff is in the answer'),
  since: ChangesSince.default('base'),
  diff: z.enum(['whole']).optional().describe('The diff of all files together, at most 256 kB of it'),
}

export const readChanges = endpoint({
  method: 'GET',
  path: '/runs/:id/changes',
  summary: 'Read what a run did to the repository of its agent: files, and the diff of one of them',
  description:
    'Compares the commit that was saved at its end, or its files while it runs, with the base of the task.',
  tag: 'runs',
  needs: 'read',
  params: RunParams,
  query: z.strictObject(query),
  answer: ChangesView,
})

export const readChangesOfTask = endpoint({
  method: 'GET',
  path: '/tasks/:id/changes',
  summary: 'Read what was done for a task: files, and the diff of one of them',
  description: 'Of the work that was submitted last, or of a generation.',
  tag: 'tasks',
  needs: 'read',
  params: IdParams,
  query: z.strictObject({ ...query, generation: Digits.optional() }),
  answer: ChangesView,
})

export const readChangesOfMission = endpoint({
  method: 'GET',
  path: '/missions/:id/changes',
  summary: 'Read what a mission has changed: its branches, their conflicts, and all files, by repository',
  description: 'Of the work that was accepted. Nothing is merged: the repositories stay as they are.',
  tag: 'missions',
  needs: 'read',
  params: MissionParams,
  query: z.strictObject({
    repository: Name.optional().describe('One of the repositories: only that one is in the answer'),
    path: Path.optional().describe('One of its files: its diff is in the answer'),
  }),
  answer: MissionChangesView,
})

export const discardWork = endpoint({
  method: 'POST',
  path: '/tasks/:id/discard',
  summary: 'Remove the folders and branches of a task, or of one of its generations',
  description:
    'No later attempt begins with that work. Refused while an agent holds the task, and for accepted work that no branch of a person contains.',
  tag: 'tasks',
  needs: 'operate',
  params: IdParams,
  body: DiscardBody,
  bodyIsOptional: true,
  answer: DiscardAnswer,
})
