import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { gone } from '../../support/adapter-runs.ts'
import { isGitHere, makeRepository } from '../../support/git.ts'
import { eventually } from '../../support/recovery.ts'
import { isThere, useRunNodes } from '../../support/run-nodes.ts'
import { useFleets } from '../../support/runs.ts'

/** Processes that left the process tree of their run: nothing but their working folder shows where they came from. */

const { fleet } = useFleets()
const nodes = useRunNodes()
const here = test.runIf(process.platform === 'linux' && isGitHere)
const MINUTES = { timeout: 400_000 }

const left: number[] = []
afterEach(() => {
  for (const pid of left.splice(0)) if (isThere(pid)) process.kill(pid, 'SIGKILL')
})

/** Starts a process outside its group, without an environment, whose parent ends at once; then does the rest. */
const leaves = (file: string, rest: string) => `
  import { spawn } from 'node:child_process'
  import { existsSync } from 'node:fs'
  const inner = "setsid sh -c 'echo \\\\$\\\\$ > ${file}; exec sleep 777' > /dev/null 2>&1 < /dev/null &"
  spawn('setsid', ['env', '-i', 'sh', '-c', inner.replaceAll('\\\\', '')], { stdio: 'ignore' })
  const started = setInterval(() => {
    if (!existsSync(${JSON.stringify(file)})) return
    clearInterval(started)
    ${rest}
  }, 20)`

const pidIn = async (file: string) => {
  const text = await eventually(async () => existsSync(file) && readFileSync(file, 'utf8'))
  const pid = Number(text)
  left.push(pid)
  return pid
}

here('a cancelled run leaves no process in its worktree', async () => {
  const w = await fleet()
  const home = await w.freshHome()
  const [repository, file] = [makeRepository(join(home, 'repo')), join(home, 'pid')]
  const config = { cwd: repository, workspace: 'git_worktree', graceSec: 1 }
  await w.script('dev', leaves(file, `console.log('up'); setInterval(() => {}, 60_000)`), { config })
  await w.assign('dev')
  const run = await w.saying('dev', 'up')
  const pid = await pidIn(file)
  expect(isThere(pid)).toBe(true)
  await w.post(`/runs/${run.id}/cancel`)
  await w.over('dev')
  expect(isThere(pid)).toBe(false)
})

here('a run that ends on its own leaves no process in its worktree', async () => {
  const w = await fleet()
  const home = await w.freshHome()
  const [repository, file] = [makeRepository(join(home, 'repo')), join(home, 'pid')]
  await w.script('dev', leaves(file, ''), { config: { cwd: repository, workspace: 'git_worktree' } })
  await w.assign('dev')
  const [run] = await w.over('dev')
  expect(run.status).toBe('succeeded')
  expect(isThere(await pidIn(file))).toBe(false)
})

here('a process in the worktree of a lost run is ended before the task is tried again', MINUTES, async () => {
  const cluster = await nodes.cluster()
  const node = await cluster.serve()
  const w = await cluster.workspace()
  const home = await cluster.room('dev')
  const [repository, file] = [makeRepository(join(home, 'repo')), join(home, 'pid')]
  const source = leaves(file, `console.log('waiting'); setInterval(() => {}, 60_000)`)
  const args = ['--input-type=module', '-e', source]
  const adapterConfig = { command: process.execPath, args, cwd: repository, workspace: 'git_worktree' }
  await w.hire('dev', { adapterType: 'process', adapterConfig })
  const task = await w.make({ agent: 'dev' })
  await w.waits(task)
  const pid = await pidIn(file)
  await cluster.kill(node)
  expect(isThere(pid)).toBe(true)
  await cluster.serve()
  await gone(pid)
})
