import { existsSync, rmSync } from 'node:fs'
import pino from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { gitWith } from '../../../src/executor/folders/git.ts'
import { removeRefs, taskRefs } from '../../../src/executor/folders/task-refs.ts'
import { removeOldBranches } from '../../../src/executor/work/retention.ts'
import { serverDirectory } from '../../../src/store/directory.ts'
import { PostgresStore } from '../../../src/store/store.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { commit, git, isGitHere } from '../../support/git.ts'
import { expectRefusal, KEY } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'
import { hireWorker, workshop } from '../../support/working-agent.ts'

/** Work of tasks is removed by people, and by time: folders and branches, on record, and never accepted work alone. */

const { fleet, served, folder } = useFleets()
/** Agents start several times, and git with them. */
const MINUTES = { timeout: 240_000 }
const HUMAN = { verification: { kind: 'human' } }

const refsOf = (repository: string, { id }: Seen) =>
  git(repository, 'for-each-ref', '--format=%(refname)', `refs/heads/baton/${id}`, `refs/baton/${id}`)
    .split('\n')
    .filter(Boolean)
const branchesOf = (repository: string, task: Seen) =>
  refsOf(repository, task).flatMap((ref) =>
    ref.startsWith('refs/heads/') ? [ref.slice(ref.lastIndexOf('/') + 1)] : [],
  )
const removals = async (w: Fleet, { id }: Seen): Promise<Seen[]> =>
  (await w.events()).filter(({ type, taskId }: Seen) => type === 'task_work_removed' && taskId === id)
const atGeneration = (w: Fleet, task: Seen, generation: number, state: string) =>
  eventually(async () => {
    const seen = await w.read(task)
    return seen.generation === generation && seen.state === state && seen
  })

/** A task whose first attempt was rejected, and whose second one was accepted. */
async function acceptedAtSecond(w: Fleet, repository: string): Promise<Seen> {
  await hireWorker(w, 'dev', repository, [])
  const task = await w.assign('dev', HUMAN)
  await atGeneration(w, task, 1, 'awaiting_human')
  await w.on(task, 'reject', {})
  await atGeneration(w, task, 2, 'awaiting_human')
  await w.on(task, 'approve', {})
  await w.taskIn(task, 'completed')
  await w.over('dev', 2)
  return task
}

/** Its worktrees are removed; Baton does that for tasks that have ended, once in an hour. */
function withoutFolders(repository: string): void {
  const listed = git(repository, 'worktree', 'list', '--porcelain').split('\n')
  const roots = listed.flatMap((line) =>
    line.startsWith('worktree ') ? [line.slice('worktree '.length)] : [],
  )
  for (const root of roots.slice(1)) git(repository, 'worktree', 'remove', '--force', root)
}

describe.skipIf(!isGitHere)('discarded work', () => {
  test(
    'is gone with its folder and its refs, on record, and no attempt begins with it',
    MINUTES,
    async () => {
      const w = await fleet()
      const repository = await workshop(w)
      await hireWorker(w, 'dev', repository, ['fail'])
      const task = await w.assign('dev')
      await w.taskIn(task, 'awaiting_retry')
      const [run] = await w.over('dev')
      expect(existsSync(run.folder.path)).toBe(true)
      // An agent can make refs of generations that never were.
      git(repository, 'branch', `baton/${task.id}/gen-999999999`)
      const other = await w.assign('nobody')
      git(repository, 'branch', `baton/${other.id}/gen-1`)
      const answer = await w.on(task, 'discard', { comment: 'All wrong.' })
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 })
      expect(answer.body).toMatchObject({ taskId: task.id, generations: [1], folders: 1, elsewhere: [] })
      expect(answer.body.branches).toContain(`baton/${task.id}/gen-1`)
      expect(existsSync(run.folder.path)).toBe(false)
      expect(refsOf(repository, task)).toEqual([])
      expect(refsOf(repository, other)).toHaveLength(1)
      expect(git(repository, 'worktree', 'list').split('\n')).toHaveLength(1)
      const [event] = await removals(w, task)
      expect(event).toMatchObject({
        actor: expect.stringMatching(KEY),
        payload: { because: 'discarded', generations: [1], folders: 1 },
      })
      expect((await w.read(task, '/comments')).items).toMatchObject([{ text: 'All wrong.' }])
      expect((await w.on(task, 'discard')).body).toMatchObject({ generations: [], branches: [], folders: 0 })
      expect(await removals(w, task)).toHaveLength(1)
      await w.on(task, 'retry', {})
      await w.taskIn(task, 'completed')
      const [result] = await w.resultsOf(task)
      expect(result.result).toMatchObject({ before: '', resumes: null })
      expect(git(repository, 'show', `${result.commit}:work.txt`)).toBe('dev 2')
      const [, second] = await w.over('dev', 2)
      expect(second.folder.missing ?? null).toBe(null)
    },
  )

  test('is not what is accepted, or awaits a verdict, or is being done', MINUTES, async () => {
    const w = await fleet()
    const repository = await workshop(w)
    const task = await acceptedAtSecond(w, repository)
    for (const body of [{}, { generation: 2 }])
      expectRefusal(await w.on(task, 'discard', body), 409, 'WORK_KEPT')
    expect(branchesOf(repository, task)).toEqual(['gen-1', 'gen-2'])
    expect((await w.on(task, 'discard', { generation: 1 })).body).toMatchObject({ generations: [1] })
    expect(branchesOf(repository, task)).toEqual(['gen-2'])
    // Another task that was built on it does not keep it: its branch may go as well.
    git(repository, 'branch', `baton/${w.ownerKey.slice(-8)}/gen-1`, `baton/${task.id}/gen-2`)
    expectRefusal(await w.on(task, 'discard'), 409, 'WORK_KEPT')
    git(repository, 'merge', '--quiet', `baton/${task.id}/gen-2`)
    expect((await w.on(task, 'discard')).body).toMatchObject({ generations: [1, 2] })
    expect(refsOf(repository, task)).toEqual([])

    const judged = await w.assign('dev', HUMAN)
    await w.taskIn(judged, 'awaiting_human')
    await w.over('dev', 3)
    expectRefusal(await w.on(judged, 'discard'), 409, 'WRONG_STATE')
    await hireWorker(w, 'slow', repository, ['hang'])
    const running = await w.assign('slow')
    const { id } = await w.saying('slow', 'up')
    expectRefusal(await w.on(running, 'discard'), 409, 'WRONG_STATE')
    await w.post(`/runs/${id}/cancel`, {})
  })

  test('is refused for what there is not, for others, and where the repository is not', MINUTES, async () => {
    const w = await fleet()
    const repository = await workshop(w)
    await hireWorker(w, 'dev', repository, ['fail'])
    const task = await w.assign('dev')
    await w.taskIn(task, 'awaiting_retry')
    await w.over('dev')
    for (const generation of [0, -1, 1.5, 'x', 1e12])
      expectRefusal(await w.on(task, 'discard', { generation }), 400, 'VALIDATION_FAILED')
    expectRefusal(await w.on(task, 'discard', { force: true }), 400, 'VALIDATION_FAILED')
    expectRefusal(await w.on(task, 'discard', { generation: 7 }), 404, 'NOT_FOUND')
    const { key } = (await w.post('/keys', { name: 'looks', role: 'viewer' })).body
    const asViewer = await w.on(task, 'discard', {}, { authorization: `Bearer ${key}` })
    expectRefusal(asViewer, 403, 'FORBIDDEN')
    expectRefusal(await (await fleet()).on(task, 'discard'), 404, 'NOT_FOUND')
    git(repository, 'worktree', 'add', '--quiet', '--force', `${repository}-mine`, `baton/${task.id}/gen-1`)
    expectRefusal(await w.on(task, 'discard'), 409, 'WRONG_STATE')
    rmSync(repository, { recursive: true })
    const gone = await w.on(task, 'discard')
    expectRefusal(gone, 409, 'CHANGES_UNAVAILABLE')
    expect(gone.body.detail).toContain('not on this node')
    expect(await removals(w, task)).toEqual([])
    const never = await w.assign('nobody')
    expect((await w.on(never, 'discard')).body).toMatchObject({ generations: [] })
  })
})

describe.skipIf(!isGitHere)('branches of tasks that ended long ago', () => {
  let store: PostgresStore
  beforeAll(async () => {
    store = await PostgresStore.open(served().databaseUrl)
  })
  afterAll(() => store.close())

  const ours = () => gitWith({ PATH: process.env.PATH!, HOME: folder() })
  const pass = () => {
    const kernel = openKernel(store, serverDirectory(store))
    return removeOldBranches({ kernel, log: pino({ level: 'silent' }) }, ours(), store.readers)
  }
  const ended = (days: number, ...tasks: readonly Seen[]) =>
    superuser(served().databaseUrl, async (client) => {
      const back = `update baton.tasks set completed_at = now() - $2 * interval '1 day' where uuid = any($1) and completed_at is not null`
      await client.query(back, [tasks.map(({ id }) => id), days])
    })

  test('go, on record; accepted work stays until a branch of a person has it', MINUTES, async () => {
    const w = await fleet()
    const repository = await workshop(w)
    const task = await acceptedAtSecond(w, repository)
    await hireWorker(w, 'bad', repository, ['fail', 'fail'])
    const [cancelled, open, young] = [await w.assign('bad'), await w.assign('bad'), await w.assign('bad')]
    for (const one of [cancelled, open, young]) await w.taskIn(one, 'awaiting_retry')
    await w.over('bad', 3)
    for (const one of [cancelled, young]) await w.on(one, 'cancel', {})
    await ended(31, task, cancelled, open)
    await ended(29, young)
    await pass()
    expect(branchesOf(repository, task)).toEqual(['gen-2'])
    expect(refsOf(repository, task).every((ref) => ref.includes('gen-2'))).toBe(true)
    expect(branchesOf(repository, open)).toEqual(['gen-1'])
    expect(branchesOf(repository, young)).toEqual(['gen-1'])
    const [event] = await removals(w, task)
    expect(event).toMatchObject({
      actor: 'system',
      payload: { because: 'retention', generations: [1], folders: 0 },
    })
    await pass()
    expect(await removals(w, task), 'nothing is recorded twice').toHaveLength(1)
    git(repository, 'merge', '--quiet', `baton/${task.id}/gen-2`)
    git(repository, 'worktree', 'add', '--quiet', '--force', `${repository}-mine`, `baton/${task.id}/gen-2`)
    await pass()
    expect(branchesOf(repository, task), 'somebody looks at it').toEqual(['gen-2'])
    withoutFolders(repository)
    await pass()
    expect(refsOf(repository, task)).toEqual([])
    expect((await removals(w, task))[1].payload).toMatchObject({ generations: [2] })
    expect((await w.read(task)).state).toBe('completed')
  })

  test(
    'stay when the workspace keeps them for ever, and when a ref names a task that did not work there',
    MINUTES,
    async () => {
      const w = await fleet({ branchRetentionDays: 0 })
      const repository = await workshop(w)
      const task = await acceptedAtSecond(w, repository)
      await ended(3_000, task)
      await pass()
      expect(branchesOf(repository, task)).toEqual(['gen-1', 'gen-2'])
      const forged = await w.make({ title: 'Elsewhere' })
      await w.on(forged, 'cancel', {})
      await ended(3_000, forged)
      git(repository, 'branch', `baton/${forged.id}/gen-1`)
      await w.call('PATCH', '/limits', { branchRetentionDays: 1 })
      await pass()
      expect(branchesOf(repository, task)).toEqual(['gen-2'])
      expect(refsOf(repository, forged)).toHaveLength(1)
      expect(await removals(w, forged)).toEqual([])
    },
  )

  test('are removed only where they were seen, all or none', async () => {
    const w = await fleet()
    const repository = await workshop(w)
    for (const name of ['gen-1', 'gen-2']) git(repository, 'branch', `baton/t/${name}`)
    const seen = await taskRefs(ours(), repository, 't')
    expect(seen.map(({ generation }) => generation)).toEqual([1, 2])
    expect(await removeRefs(ours(), repository, seen, true)).toBe(null)
    expect(await taskRefs(ours(), repository, 't')).toEqual(seen)
    git(repository, 'update-ref', 'refs/heads/baton/t/gen-2', commit(repository, { more: '1' }))
    expect(await removeRefs(ours(), repository, seen)).not.toBe(null)
    expect(await taskRefs(ours(), repository, 't')).toHaveLength(2)
    expect(await removeRefs(ours(), repository, await taskRefs(ours(), repository, 't'))).toBe(null)
    expect(await taskRefs(ours(), repository)).toEqual([])
  })
})
