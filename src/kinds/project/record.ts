import { fields } from '../../pure/fields.ts'

/** How many agents may work on a part of a project at once. */
export interface Track {
  track: string
  maxAgents: number | null
  sequential: boolean
  purpose: string | null
}

export interface ProjectRecord {
  slug: string
  projectId: number
  uuid: string
  name: string
  createdAt: number
  tracks: readonly Track[]
}

export const PROJECT_FIELDS = fields<Omit<ProjectRecord, 'tracks'>>({
  slug: 'text',
  projectId: 'int',
  uuid: 'uuid',
  name: 'text',
  createdAt: 'instant',
})

export const TRACK_FIELDS = fields<Track & { projectId: number }>({
  projectId: 'int',
  track: 'text',
  maxAgents: 'int',
  sequential: 'boolean',
  purpose: 'text',
})
