import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { git, isGitHere } from '../../support/git.ts'
import { expectRefusal } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'
import { hireWorker, workshop } from '../../support/working-agent.ts'

/** What a mission has changed, over HTTP: agents work in worktrees and commit nothing themselves. */

const { fleet } = useFleets()

/** Agents start, and git with them. */
const MINUTES = { timeout: 240_000 }
const writes = (path: string, text: string) => `do writeFileSync('${path}', '${text}')`

/** A mission of these tasks, once it is completed. */
async function completed(w: Fleet, tasks: readonly Seen[]): Promise<Seen> {
  const config = { autonomy: 'full_auto' }
  const answer = await w.post('/missions', { goal: 'Ship it', plan: { tasks }, config })
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 })
  return eventually(async () => {
    const { body } = await w.call('GET', `/missions/${answer.body.id}`)
    return body.state === 'completed' && body
  })
}
const changes = async (w: Fleet, { id }: Seen, query = '', key?: string): Promise<Seen> => {
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key}` } : {}
  const { status, body } = await w.call('GET', `/missions/${id}/changes${query}`, undefined, headers)
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}
describe.skipIf(!isGitHere)('the changes of a mission', () => {
  test('are those of its tips: work that others continue is part of theirs', MINUTES, async () => {
    const w = await fleet()
    const repository = await workshop(w, { '.gitignore': 'cache/\nwork.txt\n' })
    for (const slug of ['one', 'two', 'three'])
      await hireWorker(w, slug, repository, [writes(`${slug}.txt`, slug)])
    const mission = await completed(w, [
      { tempId: 'a', title: 'First', agent: 'one' },
      { tempId: 'b', title: 'Beside', agent: 'two' },
      { tempId: 'c', title: 'After', agent: 'three', dependsOn: ['a'] },
    ])
    const before = readdirSync(`${repository}/.git/objects`)
    const seen = await changes(w, mission)
    expect(seen).toMatchObject({
      missionId: mission.id,
      taskCount: 3,
      withoutWork: 0,
      isCut: false,
      elsewhere: [],
    })
    const [changed] = seen.repositories
    expect(changed).toMatchObject({
      ...{ repository: 'repository', path: repository, base: git(repository, 'rev-parse', 'main') },
      ...{ taskCount: 3, missingCount: 0, branchCount: 2, conflicts: [], fileCount: 3, cut: null },
    })
    expect(changed.branches.map(({ title }: Seen) => title).sort()).toEqual(['After', 'Beside'])
    const [beside] = changed.branches.filter(({ title }: Seen) => title === 'Beside')
    expect(beside).toMatchObject({ agent: 'two', generation: 1, number: 2, isThere: true })
    expect(git(repository, 'rev-parse', beside.branch)).toBe(beside.commit)
    expect(changed.files.map(({ path }: Seen) => path)).toEqual(['one.txt', 'three.txt', 'two.txt'])
    expect(changed.mergeCommands).toContain(`git -C ${repository} merge ${beside.branch}`)
    expect(readdirSync(`${repository}/.git/objects`)).toEqual(before)
    const [one] = (await changes(w, mission, '?path=three.txt&repository=repository')).repositories
    expect(one.diff.text).toContain('+three')
    for (const query of ['?path=none.txt', '?repository=other', '?path=../../etc/passwd'])
      expectRefusal(await w.call('GET', `/missions/${mission.id}/changes${query}`), 404, 'NOT_FOUND')
    expectRefusal(await w.call('GET', `/missions/${mission.id}/changes?path=%00`), 400, 'VALIDATION_FAILED')

    const { key } = (await w.post('/keys', { name: 'looks', role: 'viewer' })).body
    const [hidden] = (await changes(w, mission, '', key)).repositories
    expect(hidden).toMatchObject({ repository: 'repository', path: null, mergeCommands: null, fileCount: 3 })
    const other = await fleet()
    expectRefusal(await other.call('GET', `/missions/${mission.id}/changes`), 404, 'NOT_FOUND')
  })

  test('name two branches that conflict', MINUTES, async () => {
    const w = await fleet()
    const repository = await workshop(w)
    for (const slug of ['one', 'two']) await hireWorker(w, slug, repository, [])
    const mission = await completed(w, [
      { tempId: 'a', title: 'A', agent: 'one' },
      { tempId: 'b', title: 'B', agent: 'two' },
    ])
    const [changed] = (await changes(w, mission)).repositories
    expect(changed.conflicts).toHaveLength(1)
    expect(changed.conflicts[0]).toMatchObject({ files: ['work.txt'], withBase: false })
    expect([...changed.conflicts[0].branches].sort()).toEqual(
      changed.branches.map(({ branch }: Seen) => branch).sort(),
    )
  })

  test('are none where no work was accepted yet', async () => {
    const w = await fleet()
    const { body } = await w.post('/missions', {
      goal: 'Later',
      plan: { tasks: [{ tempId: 'a', agent: 'nobody' }] },
    })
    expect(await changes(w, body)).toMatchObject({ repositories: [], elsewhere: [], isCut: false })
  })
})
