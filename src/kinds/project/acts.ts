import { randomInt } from 'node:crypto'
import type { z } from 'zod'
import { included } from '../../door/asked.ts'
import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { Refused } from '../../pure/errors.ts'
import { uuidCarrying } from '../../pure/ids.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import * as api from './api.ts'
import {
  findProject,
  listProjects,
  listTracks,
  newProjectId,
  type Progress,
  type Project,
  projectProgress,
  trackAssignments,
  trackHoldings,
  trackProgress,
} from './postgres.ts'
import type { ProjectCommand } from './rules.ts'
import type { ListedProject, ProjectBody, ProjectView, ProjectWithTracks, TrackBody } from './shapes.ts'

const noProject = (slug: string) =>
  new Refused('NOT_FOUND', `There is no project "${slug}" in this workspace.`)

export async function requireProject(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  slug: string,
): Promise<Project> {
  const project = await findProject(kernel.store.readers, workspaceId, slug)
  if (!project) throw noProject(slug)
  return project
}

/** The id of the project that a request names, if any. */
export async function namedProject(kernel: ServerKernel, { workspaceId }: Caller, slug: string | undefined) {
  if (slug === undefined) return undefined
  const projectId = await kernel.projectOf(workspaceId, slug)
  if (projectId === null) throw noProject(slug)
  return projectId
}

const projectView = ({
  uuid,
  slug,
  name,
  createdAt,
  tokensPerLine,
}: Project): AnswerOf<typeof ProjectView> => ({
  id: uuid,
  slug,
  name,
  createdAt: instant(createdAt),
  tokensPerLine,
})

async function makeProject(
  kernel: ServerKernel,
  caller: Caller,
  { slug, name }: z.output<typeof ProjectBody>,
): Promise<AnswerOf<typeof ProjectView>> {
  const id = await newProjectId(kernel.store.writers, caller.workspaceId)
  const request = {
    on: 'project',
    key: slug,
    uuid: uuidCarrying(id, Date.now(), randomInt(2 ** 22)),
    command: { kind: 'create', name: name ?? slug },
  } as const
  return projectView(granted(await kernel.run(caller, request)).record)
}

const NO_PROGRESS: Progress = { completed: 0, inProgress: 0, pending: 0, failed: 0 }

/** Projects with their progress. */
async function progressOf(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  projects: readonly Project[],
): Promise<(project: Project) => AnswerOf<typeof ListedProject>> {
  const ids = projects.map(({ projectId }) => projectId)
  const found = await projectProgress(kernel.store.readers, workspaceId, ids)
  const byId = new Map(found.map(({ projectId, ...progress }) => [projectId, progress]))
  return (project) => ({
    ...projectView(project),
    ...(byId.get(project.projectId) ?? { trackCount: 0, ...NO_PROGRESS }),
  })
}

/** A project, with the agents and the progress of each of its tracks. */
async function showProject(
  kernel: ServerKernel,
  caller: Caller,
  slug: string,
): Promise<AnswerOf<typeof ProjectWithTracks>> {
  const project = await requireProject(kernel, caller, slug)
  const { readers } = kernel.store
  const [declared, progress, assignments, holdings] = await Promise.all([
    listTracks(readers, caller.workspaceId, project.projectId),
    trackProgress(readers, caller.workspaceId, project.projectId),
    trackAssignments(readers, caller.workspaceId, project.projectId),
    trackHoldings(readers, caller.workspaceId, project.projectId),
  ])
  const names = [...new Set([...declared, ...progress].map(({ track }) => track))].sort()
  const tracks = names.map((track) => {
    const known = declared.find((one) => one.track === track)
    const { maxAgents = null, sequential = false, purpose = null } = known ?? {}
    const { track: _track, ...counts } = progress.find((one) => one.track === track) ?? {
      track,
      ...NO_PROGRESS,
    }
    const agents = assignments.find((one) => one.track === track)?.agents ?? []
    const held = holdings.filter((one) => one.track === track)
    const holding = held.map(({ track: _its, ...task }) => task)
    return { track, maxAgents, sequential, purpose, agents, ...counts, holding }
  })
  return { ...projectView(project), tracks }
}

/** Sets how many agents a track may have. Agents already on the track stay. */
async function changeTrack(
  kernel: ServerKernel,
  caller: Caller,
  slug: string,
  track: string,
  { maxAgents, purpose }: z.output<typeof TrackBody>,
): Promise<AnswerOf<typeof ProjectWithTracks>> {
  const change = { track, maxAgents, ...(purpose !== undefined && { purpose }) }
  await commandProject(kernel, caller, slug, { kind: 'setTracks', tracks: [change] })
  return showProject(kernel, caller, slug)
}

export async function commandProject(
  kernel: ServerKernel,
  caller: Caller,
  slug: string,
  command: Exclude<ProjectCommand, { kind: 'create' }>,
): Promise<void> {
  granted(await kernel.run(caller, { on: 'project', key: slug, uuid: '', command }))
}

export const projectActs = actsOf(api)({
  createProject: ({ kernel }, { body, caller }) => makeProject(kernel, caller, body),
  listProjects: async ({ kernel }, { caller, query, page }) => {
    const projects = await listProjects(kernel.store.readers, caller.workspaceId, page.after ?? 0, page.rows)
    const hasProgress = included(query.include, 'progress').has('progress')
    const view = hasProgress ? await progressOf(kernel, caller, projects) : projectView
    return page.of(projects, view, ({ projectId }) => projectId)
  },
  readProject: ({ kernel }, { params, caller }) => showProject(kernel, caller, params.slug),
  async changeEfficiency({ kernel }, { params: { slug }, body, caller }) {
    const { uuid } = await requireProject(kernel, caller, slug)
    const request = { on: 'project', key: slug, uuid, command: { kind: 'update', ...body } } as const
    return projectView(granted(await kernel.run(caller, request)).record)
  },
  changeTrack: ({ kernel }, { params, body, caller }) =>
    changeTrack(kernel, caller, params.slug, params.track, body),
})
