import { expect } from 'vitest'
import { everythingIn } from './http-under-attack.ts'
import { type Json, openWorkspace, type Task, type Workspace } from './http-workspace.ts'
import { superuser } from './nodes.ts'
import type { ServerUnderTest } from './server.ts'

/** What tests of plans share: a project, importing and exporting its plan, and its tasks by their keys. */

const YAML = { 'content-type': 'application/yaml' }

/** Text is YAML unless the headers say otherwise; anything else is JSON. */
export const putPlan = (w: Workspace, slug: string, plan: string | Json, headers?: Record<string, string>) =>
  w.call('PUT', `/projects/${slug}/plan`, plan, headers ?? (typeof plan === 'string' ? YAML : {}))

/** A workspace with an empty project. */
export async function openProject(server: ServerUnderTest, slug = 'shop', limits?: Json): Promise<Workspace> {
  const w = await openWorkspace(server, limits)
  expect((await w.post('/projects', { slug })).status).toBe(201)
  return w
}

export type Planned = Task & { key: string; state: string; dependsOn: string[] } & Json

/** All tasks of a small workspace, in the order of their creation. */
export async function tasksByKey(w: Workspace): Promise<Map<string, Planned>> {
  const { items } = (await w.call('GET', '/tasks?limit=200&include=input')).body as { items: Planned[] }
  return new Map(items.toReversed().map((task) => [task.key, task]))
}

export async function nothingIsWrittenBy(
  server: ServerUnderTest,
  act: () => Promise<unknown>,
): Promise<void> {
  // Upkeep would tell people a moment later about tasks that nobody takes.
  expect((await server.call('POST', '/coordinator/recover')).status).toBe(200)
  const snapshot = () => superuser(server.databaseUrl, everythingIn)
  const before = await snapshot()
  await act()
  expect(await snapshot()).toEqual(before)
}
