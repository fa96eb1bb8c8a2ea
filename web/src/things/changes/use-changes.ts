import { useQuery } from '@tanstack/react-query'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { api } from '../../requests/api.ts'

export type Changes = AnswerTo<'GET', '/tasks/:id/changes'>
export type ChangedFile = Changes['files'][number]
export type Since = Changes['since']

/** The folder of a run, as it is answered. */
export type Folder = NonNullable<AnswerTo<'GET', '/runs/:id'>['folder']>

/** Whose changes: those of a run, or of an attempt of a task. */
export type ChangesOf = { runId: string } | { taskId: string; generation: number }

/** The changes of a mission in one of its repositories. */
export interface ChangesOfMission {
  missionId: string
  repository: string
}

const read = (of: ChangesOf, query: { since: Since; path?: string }, signal: AbortSignal) =>
  'runId' in of
    ? api().get('/runs/:id/changes', { params: { id: of.runId }, query, signal })
    : api().get('/tasks/:id/changes', {
        params: { id: of.taskId },
        query: { ...query, generation: String(of.generation) },
        signal,
      })

/** Read again only on request: while a run is in progress, its files change with every step. */
export const useChanges = (of: ChangesOf, since: Since) =>
  useQuery({
    queryKey: ['changes', of, since],
    queryFn: ({ signal }) => read(of, { since }, signal),
    gcTime: 0,
  })

/** One file. `commit`: what the list was read of; a diff of other work would not belong to it. */
export const useFileDiff = (of: ChangesOf | ChangesOfMission, since: Since, path: string, commit: string) =>
  useQuery({
    queryKey: ['changes', of, since, commit, path],
    queryFn: async ({ signal }) => {
      const { diff, commit: ofCommit } =
        'missionId' in of
          ? await readFileOfMission(of, path, signal)
          : await read(of, { since, path }, signal)
      return { diff, isOfOtherWork: ofCommit !== commit }
    },
    gcTime: 0,
  })

export type RepositoryChanges = AnswerTo<'GET', '/missions/:id/changes'>['repositories'][number]

export const useMissionChanges = (id: string) =>
  useQuery({
    queryKey: ['changes', { missionId: id }],
    queryFn: ({ signal }) => api().get('/missions/:id/changes', { params: { id }, signal }),
    gcTime: 0,
  })

async function readFileOfMission(
  { missionId, repository }: ChangesOfMission,
  path: string,
  signal: AbortSignal,
) {
  const query = { repository, path }
  const { repositories } = await api().get('/missions/:id/changes', {
    params: { id: missionId },
    query,
    signal,
  })
  const [found] = repositories
  return { diff: found?.diff ?? null, commit: found ? commitsOf(found) : '' }
}

/** All commits of its branches, as one text: another one means other work. */
export const commitsOf = ({ branches }: Pick<RepositoryChanges, 'branches'>) =>
  branches.map(({ commit }) => commit).join(' ')
