import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { entryOf } from '../../../src/adapters/child/identity.ts'
import { isGitHere, makeRepository } from '../../support/git.ts'
import { actOn, makeMission, showMission, tasksByTitle } from '../../support/http-missions.ts'
import type { Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, numberIn, type Seen, useFleets } from '../../support/runs.ts'

/** What closing the gate of a mission does to programs that work for it, and how their work continues. */

const { fleet, folder } = useFleets()
const isThere = (pid: number) => entryOf(pid)?.isZombie === false
const isGone = (pids: readonly number[]) => eventually(async () => !pids.some(isThere))

/** Ends when it gets the signal, unless it is deaf; its child never gets the signal. */
const WORKS = `
  import { spawn } from 'node:child_process'
  import { existsSync, readFileSync, writeFileSync } from 'node:fs'
  const say = (line) => console.log(JSON.stringify(line))
  const { BATON_AGENT_SESSION: session, BATON_ATTEMPT: attempt, HOME_OF_TEST: home, IS_DEAF } = process.env
  if (existsSync('notes.txt'))
    say({ result: { session, attempt, cwd: process.cwd(), notes: readFileSync('notes.txt', 'utf8') } })
  else {
    process.on('SIGTERM', () => {
      writeFileSync(home + '/told.txt', '1')
      if (!IS_DEAF) process.exit(1)
    })
    writeFileSync('notes.txt', 'half done')
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], { stdio: 'ignore' })
    writeFileSync(home + '/child.pid', String(child.pid))
    writeFileSync(home + '/own.pid', String(process.pid))
    say({ baton: 'session', sessionId: 'session-of-' + process.env.BATON_TASK_ID })
    setInterval(() => {}, 60_000)
  }`

/** An agent with a repository of its own, and where its program leaves its marks. */
async function hire(w: Fleet, slug: string, more: Record<string, string> = {}): Promise<string> {
  const repository = join(folder(), `repository-${randomUUID()}`)
  makeRepository(repository)
  const home = await w.freshHome()
  const config = { cwd: repository, workspace: 'git_worktree' }
  await w.script(slug, WORKS, { config, env: { HOME_OF_TEST: home, ...more } })
  return home
}

const pidsIn = async (home: string) => [await numberIn(home, 'own.pid'), await numberIn(home, 'child.pid')]

/** A mission of two tasks, both under way in processes. */
async function underWay(): Promise<{ w: Fleet; mission: Json; homes: string[]; pids: number[] }> {
  const w = await fleet()
  const homes = [await hire(w, 'willing'), await hire(w, 'deaf', { IS_DEAF: '1' })]
  const mission = await makeMission(w, [
    { tempId: 'a', agent: 'willing' },
    { tempId: 'b', agent: 'deaf' },
  ])
  const pids = (await Promise.all(homes.map(pidsIn))).flat()
  // Their sessions are known before anything is stopped.
  await eventually(async () => {
    const runs = [...(await w.runsOf('willing')), ...(await w.runsOf('deaf'))]
    return runs.length === 2 && runs.every(({ sessionIdAfter }: Seen) => sessionIdAfter !== null)
  })
  expect(pids.every(isThere)).toBe(true)
  return { w, mission, homes, pids }
}

describe.runIf(isGitHere && process.platform === 'linux')('programs that work for a mission', () => {
  test('get a signal to end when it is paused, none is left after its grace period, and the work continues where it was', async () => {
    const { w, mission, homes, pids } = await underWay()
    expect(await actOn(w, mission, 'pause')).toMatchObject({ status: 200, body: { state: 'paused' } })
    for (const home of homes) expect(await numberIn(home, 'told.txt')).toBe(1)
    await isGone(pids)
    await eventually(async () => (await showMission(w, mission)).tasksByState.paused === 2)
    for (const slug of ['willing', 'deaf']) expect(await w.over(slug)).toHaveLength(1)

    expect(await actOn(w, mission, 'resume')).toMatchObject({ status: 200, body: { state: 'running' } })
    await eventually(async () => (await showMission(w, mission)).state === 'completed')
    for (const task of Object.values(await tasksByTitle(w, mission))) {
      expect(task).toMatchObject({ state: 'completed', generation: 2, attempt: 1 })
      const [{ result }] = await w.resultsOf(task as { id: string })
      expect(result).toMatchObject({ session: `session-of-${task.id}`, attempt: '1', notes: 'half done' })
      expect(result.cwd).toMatch(/gen-1$/)
    }
  })

  test('are ended with all that they started when it is cancelled', async () => {
    const { w, mission, homes, pids } = await underWay()
    expect(await actOn(w, mission, 'cancel')).toMatchObject({ status: 200 })
    for (const home of homes) expect(await numberIn(home, 'told.txt')).toBe(1)
    await isGone(pids)
    await eventually(async () => (await showMission(w, mission)).state === 'cancelled')
    expect(await showMission(w, mission)).toMatchObject({ tasksByState: { cancelled: 2 } })
    for (const slug of ['willing', 'deaf'])
      expect(await w.over(slug)).toMatchObject([{ status: 'cancelled' }])
  })
})
