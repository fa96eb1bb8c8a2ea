import { expect, test } from 'vitest'
import {
  claimOne,
  failForGood,
  makeMission,
  showMission,
  submit,
  take,
  tasksByTitle,
} from '../support/http-missions.ts'
import { type Json, useServer, type Workspace } from '../support/http-workspace.ts'

/** Automatos 10.1 and 10.4, what they say about cards. There are no rows of a board: tasks are its cards, and cannot differ from it. */

const { workspace } = useServer()

interface Card extends Json {
  id: string
  title: string
  missionId: string | null
}

async function cards(w: Workspace, query = ''): Promise<Card[]> {
  const { columns } = (await w.call('GET', `/board${query}`)).body as {
    columns: Record<string, { items: Card[] }>
  }
  return Object.values(columns).flatMap(({ items }) => items)
}
const idsOf = (shown: readonly Card[]) => shown.map(({ id }) => id).sort()

test('AC-10: a task has one card, whatever becomes of it', async () => {
  const w = await workspace()
  const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b' }])
  const { a, b } = await tasksByTitle(w, mission)
  const both = [a!.id, b!.id].sort()
  const held = await claimOne(w, a!)
  for (const act of [
    () => Promise.resolve(),
    () => failForGood(w, held),
    () => w.post(`/tasks/${a!.id}/retry`),
    () => w.post(`/tasks/${b!.id}/pause`),
    () => w.post(`/tasks/${b!.id}/resume`),
    () => w.post(`/missions/${mission.id}/cancel`),
    () => w.post(`/tasks/${a!.id}/reset`),
  ]) {
    await act()
    expect(idsOf(await cards(w))).toEqual(both)
  }
})

test('AC-23: a mission is shown from the moment it is made, and the board has its tasks when its plan is approved', async () => {
  const w = await workspace()
  const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b', dependsOn: ['a'] }], { config: {} })
  expect((await w.call('GET', '/missions')).body.items).toMatchObject([
    { id: mission.id, title: mission.title },
  ])
  expect(await cards(w)).toEqual([])
  await w.post(`/missions/${mission.id}/approve`)
  expect((await cards(w)).map(({ title }) => title).sort()).toEqual(['a', 'b'])
  expect(await showMission(w, mission)).toMatchObject({ tasksByState: { queued: 1, pending: 1 } })
})

test('AC-24: the card of a task names its mission, and the board of a mission has its tasks alone', async () => {
  const w = await workspace()
  const [one, other] = [await makeMission(w, [{ tempId: 'a' }]), await makeMission(w, [{ tempId: 'b' }])]
  await w.make()
  for (const mission of [one, other]) {
    const own = Object.values(await tasksByTitle(w, mission)) as Card[]
    const shown = await cards(w, `?mission=${mission.id}`)
    expect(idsOf(shown)).toEqual(idsOf(own))
    expect(shown).toMatchObject([{ missionId: mission.id }])
  }
  expect((await cards(w)).map(({ missionId }) => missionId)).toEqual(
    expect.arrayContaining([one.id, other.id, null]),
  )
})

test('AC-25: a mission that is asked for twice has its cards once', async () => {
  const w = await workspace()
  const body = { goal: 'Once', plan: { tasks: [{ tempId: 'a' }] }, config: { autonomy: 'full_auto' } }
  const make = () => w.post('/missions', body, { 'idempotency-key': 'once' })
  const [first, second] = [await make(), await make()]
  expect(second.body.id).toBe(first.body.id)
  for (const _ of [1, 2]) await w.post(`/missions/${first.body.id}/approve`)
  expect(await cards(w)).toMatchObject([{ missionId: first.body.id }])
  await submit(w, await take(w))
  expect(await cards(w)).toHaveLength(1)
})
