import { expect, test } from 'vitest'
import { type Cluster, isThere, type RunsWorkspace, useRunNodes } from '../support/run-nodes.ts'

/** kill -9 exactly between two steps of a run. After the next start its task continues, and nothing is done twice. */

export const MINUTES = { timeout: 300_000 }
export const onLinux = test.runIf(process.platform === 'linux')

export const CLAIMED = [
  'tasks',
  'update',
  "new.claim_state = 'active' and new.generation > old.generation",
] as const
export const STARTED = ['tasks', 'update', "new.state = 'running' and old.state <> 'running'"] as const
export const BEGUN = ['runs', 'update', "new.status = 'running' and old.status = 'queued'"] as const
export const IDENTIFIED = ['runs', 'update', 'new.pid is not null and old.pid is null'] as const
export const FINISHED = ['runs', 'update', 'new.finished_at is not null and old.finished_at is null'] as const
export const ASKS_A_PERSON = ['tasks', 'update', "new.state = 'awaiting_human'"] as const

/** The server is killed where it is about to do this, the agents at work then are noted, and another server is started. */
export async function killedBefore(
  cluster: Cluster,
  step: readonly [string, string, string],
  act: () => Promise<unknown>,
  env: Record<string, string> = {},
): Promise<number[]> {
  const node = cluster.serving
  const point = await cluster.faultPoint(...step)
  await act()
  await point.reached()
  const left = await cluster.processes()
  await cluster.kill(node)
  await point.lift()
  expect(left.filter(isThere)).toEqual(left)
  await cluster.serve(env)
  expect(left.filter(isThere)).toEqual([])
  return left
}

/** A worker that is assigned its work when it is woken for it. */
export const ON_DEMAND = { heartbeat: { wakeOnAssignment: false } }
export const wakeFor = (w: RunsWorkspace, taskId: string) => w.post('/agents/worker/wakeup', { taskId })

/** For a file of tests. */
export function useRunPoints() {
  const nodes = useRunNodes()
  async function open(kind: Parameters<RunsWorkspace['hireWorker']>[1], runtimeConfig = {}) {
    const cluster = await nodes.cluster()
    await cluster.serve()
    const w = await cluster.workspace()
    const room = await w.hireWorker('worker', kind, { runtimeConfig })
    return { cluster, w, room }
  }
  return { nodes, open }
}

export const LOST = { status: 'failed', errorCode: 'control_plane_restart' }
