import { describe, expect, test } from 'vitest'
import { makeMission, submit, take, tasksByTitle } from '../../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** What the tasks of a mission did when. */

const { workspace } = useServer()
const timeline = async (w: Workspace, { id }: Json, query = '') =>
  (await w.call('GET', `/missions/${id}/timeline${query}`)).body
const kinds = ({ segments }: Json, task: unknown) =>
  (segments as Json[])
    .filter((segment) => segment.task === task)
    .map(({ kind, attempt }) => `${kind} ${attempt}`)

/** The rows that lists in one order stand for. */
function fromColumns({ tasks, segments, seq }: Json) {
  const columns = segments as Record<string, unknown[]>
  const time = (ms: unknown) => (ms === null ? null : new Date(ms as number).toISOString())
  return {
    segments: columns.task!.map((place, i) => ({
      task: (tasks as string[])[place as number],
      attempt: columns.attempt![i],
      kind: columns.kind![i],
      from: time(columns.from![i]),
      to: time(columns.to![i]),
      startedAt: time(columns.startedAt![i]),
      runId: columns.runId![i],
    })),
    seq,
  }
}

describe('the timeline of a mission', () => {
  test('has the waits, attempts and verdicts of each task one after the other, and is the same in columns', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [
      { tempId: 'a', verification: { kind: 'human' } },
      { tempId: 'b', dependsOn: ['a'] },
    ])
    const { a, b } = await tasksByTitle(w, mission)
    const first = await take(w)
    await w.post(`/tasks/${a!.id}/start`, fence('s-alpha', 1))
    await w.post(`/tasks/${a!.id}/fail`, { ...fence('s-alpha', 1), failureClass: 'infrastructure' })
    await w.post(`/tasks/${a!.id}/retry`)
    const second = await take(w)
    expect([first.generation, second.generation]).toEqual([1, 2])
    await submit(w, second)
    const lasting = await timeline(w, mission)
    expect(lasting.segments.at(-2)).toMatchObject({ task: a!.id, kind: 'person', to: null, runId: null })
    await w.post(`/tasks/${a!.id}/approve`)
    await take(w, 'beta')
    // The last thing that happens automatically.
    await w.happens('report_written')

    const answer = await timeline(w, mission)
    expect(kinds(answer, a!.id)).toEqual(['queued 0', 'work 1', 'retry 1', 'queued 1', 'work 2', 'person 2'])
    expect(kinds(answer, b!.id)).toEqual(['waiting 0', 'queued 0', 'work 1'])
    const own = (answer.segments as Json[]).filter(({ task }) => task === a!.id)
    // Each begins when the previous one ended.
    for (const [i, { to }] of own.entries()) if (i + 1 < own.length) expect(to).toBe(own[i + 1]!.from)
    expect(own.at(-1)!.to).not.toBeNull()
    // The first attempt was started by its holder; the second one never was.
    expect(own.map(({ startedAt }) => startedAt === null)).toEqual([true, false, true, true, true, true])
    expect(answer.segments.at(-1)).toMatchObject({ task: b!.id, to: null })
    expect(answer.seq).toBe((await w.events()).at(-1).seq)
    expect(fromColumns(await timeline(w, mission, '?format=columns'))).toEqual(answer)
  })

  test('shows the verification of a result by another agent as a part of the task that it judges', async () => {
    const w = await workspace()
    await w.post('/claims/next', { agent: 'judge', session: 's-judge' })
    const mission = await makeMission(w, [{ tempId: 'a', verification: { kind: 'agent' } }])
    const { a } = await tasksByTitle(w, mission)
    await submit(w, await take(w))
    const verification = await until(async () => {
      const { claims } = (
        await w.post('/claims/next', { agent: 'judge', session: 's-judge', purposes: ['verification'] })
      ).body
      return claims[0]
    })
    await submit(w, verification, 'judge', { verdict: 'pass', score: 1 })
    await w.reaches({ id: String(a!.id) }, 'completed')
    const answer = await timeline(w, mission)
    expect(new Set(answer.segments.map(({ task }: Json) => task))).toEqual(new Set([a!.id]))
    expect(kinds(answer, a!.id)).toEqual(['queued 0', 'work 1', 'verification 1'])
  })

  test('is empty before there are tasks', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }], { config: { autonomy: 'approve' } })
    expect((await timeline(w, mission)).segments).toEqual([])
    expectRefusal(await w.call('GET', `/missions/${mission.id}/timeline?format=x`), 400, 'VALIDATION_FAILED')
  })
})
