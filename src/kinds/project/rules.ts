import { type Refusal, refuse, refuseField } from '../../pure/errors.ts'
import { idCarriedBy } from '../../pure/ids.ts'
import { type EventDraft, type Origin, workspaceEvent } from '../events.ts'
import type { ProjectRecord, Track } from './record.ts'

/** What a command does to a project. */

/** What is left out stays as it is. */
type TrackChange = Pick<Track, 'track' | 'maxAgents'> & Partial<Omit<Track, 'track' | 'maxAgents'>>

export type ProjectCommand =
  /** `orKeep`: a project that exists already is the answer. */
  | { kind: 'create'; name: string; orKeep?: boolean }
  | { kind: 'setTracks'; tracks: readonly TrackChange[] }
  | { kind: 'update'; tokensPerLine: number | null }
  /** A plan was imported; null: it names no project. */
  | { kind: 'plan'; name: string | null; created: number; updated: number }

interface ProjectContext {
  now: number
  origin: Origin
}

interface ProjectDecision {
  refusal: Refusal | null
  record: ProjectRecord | null
  events: EventDraft[]
}

const refused = (record: ProjectRecord | null, refusal: Refusal): ProjectDecision => ({
  ...{ refusal, record, events: [] },
})

export function decideProject(
  before: ProjectRecord | null,
  identity: { slug: string; uuid: string },
  command: ProjectCommand,
  context: ProjectContext,
): ProjectDecision {
  if (command.kind === 'create') return create(before, identity, command, context)
  if (!before)
    return refused(before, refuse('NOT_FOUND', `There is no project "${identity.slug}" in this workspace.`))
  if (command.kind === 'update') return update(before, command, context)
  return command.kind === 'setTracks'
    ? setTracks(before, command.tracks, context)
    : plan(before, command, context)
}

function create(
  before: ProjectRecord | null,
  { slug, uuid }: { slug: string; uuid: string },
  { name, orKeep = false }: Extract<ProjectCommand, { kind: 'create' }>,
  { now, origin }: ProjectContext,
): ProjectDecision {
  if (before && orKeep) return { refusal: null, record: before, events: [] }
  if (before) return refused(before, refuseField('ALREADY_EXISTS', 'slug', 'is the slug of another project'))
  const record = {
    slug,
    projectId: idCarriedBy(uuid)!,
    uuid,
    name,
    createdAt: now,
    tokensPerLine: null,
    tracks: [],
  }
  const events = [workspaceEvent('project_created', { project: slug }, { ...origin, now })]
  return { refusal: null, record, events }
}

function update(
  before: ProjectRecord,
  { tokensPerLine }: Extract<ProjectCommand, { kind: 'update' }>,
  { now, origin }: ProjectContext,
): ProjectDecision {
  if (tokensPerLine === before.tokensPerLine) return { refusal: null, record: before, events: [] }
  const event = workspaceEvent('project_changed', { project: before.slug, tokensPerLine }, { ...origin, now })
  return { refusal: null, record: { ...before, tokensPerLine }, events: [event] }
}

const isSame = (a: Track, b: Track) =>
  a.maxAgents === b.maxAgents && a.sequential === b.sequential && a.purpose === b.purpose

function setTracks(
  before: ProjectRecord,
  changes: readonly TrackChange[],
  { now, origin }: ProjectContext,
): ProjectDecision {
  const tracks = new Map(before.tracks.map((one) => [one.track, one]))
  const events: EventDraft[] = []
  for (const change of changes) {
    const { track, maxAgents } = change
    const known = tracks.get(track)
    const next = { sequential: false, purpose: null, ...known, ...change }
    if (known && isSame(known, next)) continue
    tracks.set(track, next)
    const payload = { project: before.slug, track, maxAgents }
    events.push(workspaceEvent('track_changed', payload, { ...origin, now }))
  }
  if (events.length === 0) return { refusal: null, record: before, events }
  return { refusal: null, record: { ...before, tracks: [...tracks.values()] }, events }
}

function plan(
  before: ProjectRecord,
  { name, created, updated }: Extract<ProjectCommand, { kind: 'plan' }>,
  { now, origin }: ProjectContext,
): ProjectDecision {
  const record = name === null || name === before.name ? before : { ...before, name }
  const payload = { project: before.slug, created, updated }
  const events =
    created + updated === 0 ? [] : [workspaceEvent('project_planned', payload, { ...origin, now })]
  return { refusal: null, record, events }
}
