import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git, isGitHere, makeRepository } from '../support/git.ts'
import { eventually } from '../support/recovery.ts'
import { type Cluster, type RunsWorkspace, useRunNodes } from '../support/run-nodes.ts'
import { WORKS } from '../support/working-agent.ts'

/** Agents that have committed nothing when their node is killed or their lease is lost: their work is in the next attempt. */

const MINUTES = { timeout: 300_000 }
const nodes = useRunNodes()

async function startWork(cluster: Cluster, w: RunsWorkspace) {
  const repository = makeRepository(join(cluster.home, 'repository'), { '.gitignore': 'cache/\n' })
  await w.hire('dev', {
    adapterType: 'process',
    adapterConfig: {
      ...{ command: process.execPath, args: ['--input-type=module', '--eval', WORKS], graceSec: 1 },
      ...{ cwd: repository, workspace: 'git_worktree', env: { PLAN: JSON.stringify(['hang']) } },
    },
  })
  const task = await w.make({ title: 'Write it', agent: 'dev' })
  const run = await eventually(async () =>
    (await w.runs('&status=running')).find(({ taskId }) => taskId === task.id),
  )
  await eventually(async () => (await w.log(run.id)).includes('up'))
  return { repository, task }
}

type Started = Awaited<ReturnType<typeof startWork>>

/** The second attempt has the first, and its result is a commit with both. */
async function bothAttemptsCount(w: RunsWorkspace, { repository, task }: Started) {
  await w.reaches(task, 'completed')
  const { items } = await w.read(task, '/results')
  const { commit, result } = items.at(-1)
  expect(result.before).toBe('dev 1\n')
  expect(git(repository, 'show', `${commit}:work.txt`)).toBe('dev 1\ndev 2')
  return result
}

test.runIf(isGitHere)('work survives kill -9 of the only node, uncommitted as it is', MINUTES, async () => {
  const cluster = await nodes.cluster()
  const first = await cluster.serve()
  const w = await cluster.workspace()
  const started = await startWork(cluster, w)
  await cluster.kill(first)
  await cluster.serve()
  const { ignored, resumes } = await bothAttemptsCount(w, started)
  expect({ ignored, resumes }).toEqual({ ignored: '1', resumes: 'session-1' })
})

test.runIf(isGitHere)('work survives a change of the node, in one repository', MINUTES, async () => {
  const cluster = await nodes.cluster()
  const first = await cluster.serve()
  const w = await cluster.workspace()
  const started = await startWork(cluster, w)
  await cluster.serve({ BATON_DATA: join(cluster.home, 'data-2') })
  await cluster.kill(first)
  await bothAttemptsCount(w, started)
})

test.runIf(isGitHere)('work survives a lease that was lost while its agent worked', MINUTES, async () => {
  const cluster = await nodes.cluster()
  await cluster.serve()
  const w = await cluster.workspace()
  const started = await startWork(cluster, w)
  await cluster.rows(
    `update tasks set lease_expires_at = now() - interval '1 second', due_at = now() where state = 'running'`,
  )
  const { ignored, cwd } = await bothAttemptsCount(w, started)
  expect(ignored).toBe('1')
  // The task has ended, and everything is in the repository.
  await eventually(async () => !existsSync(cwd))
})
