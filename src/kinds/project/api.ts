import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { bySmallId } from '../../pure/paging.ts'
import { include, listOf, Page } from '../../pure/shapes.ts'
import {
  EfficiencyBody,
  ListedProject,
  ProjectBody,
  ProjectParams,
  ProjectView,
  ProjectWithTracks,
  TrackBody,
  TrackParams,
} from './shapes.ts'

/** Projects and their tracks. */

const ListQuery = z.strictObject({ ...Page, include: include('progress') })

const tag = 'projects'

export const createProject = endpoint({
  method: 'POST',
  path: '/projects',
  summary: 'Create a project',
  tag,
  needs: 'operate',
  body: ProjectBody,
  status: 201,
  answer: ProjectView,
})

export const listProjects = endpoint({
  method: 'GET',
  path: '/projects',
  summary: 'List projects, with their progress if wanted',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: listOf(ListedProject),
  paging: bySmallId,
})

export const readProject = endpoint({
  method: 'GET',
  path: '/projects/:slug',
  summary: 'Read a project and the progress of its tracks',
  tag,
  needs: 'read',
  params: ProjectParams,
  answer: ProjectWithTracks,
})

export const changeEfficiency = endpoint({
  method: 'PUT',
  path: '/projects/:slug/efficiency',
  summary: 'Set how many tokens a changed line may take in a project',
  tag,
  needs: 'operate',
  params: ProjectParams,
  body: EfficiencyBody,
  answer: ProjectView,
})

export const changeTrack = endpoint({
  method: 'PUT',
  path: '/projects/:slug/tracks/:track',
  summary: 'Set how many agents a track may have',
  tag,
  needs: 'operate',
  params: TrackParams,
  body: TrackBody,
  answer: ProjectWithTracks,
})
