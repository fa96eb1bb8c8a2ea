import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import { useList } from '../../things/use-list.ts'

export type ListedProject = AnswerTo<'GET', '/projects'>['items'][number]
export type Project = AnswerTo<'GET', '/projects/:slug'>
export type Track = Project['tracks'][number]
export type Imported = AnswerTo<'PUT', '/projects/:slug/plan'>

const slugOf = ({ slug }: ListedProject) => slug

export const useProjects = () =>
  useList(
    ['project-list'],
    (query, signal) =>
      api().read('/projects', { query: { ...query, include: 'progress' }, ...(signal && { signal }) }),
    { follows: about.projects, keyOf: slugOf },
  )

export const useProject = (slug: string) =>
  useSnapshot<Project>(
    ['project-page', slug],
    ({ signal }) => api().read('/projects/:slug', { params: { slug }, signal }),
    { follows: about.project(slug) },
  )
