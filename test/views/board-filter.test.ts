import { describe, expect, test } from 'vitest'
import { type CardFilter, matches } from '../../src/views/board/filter.ts'
import { Random } from '../simulation/random.ts'
import { makeMission, take } from '../support/http-missions.ts'
import { type Json, useServer, type Workspace } from '../support/http-workspace.ts'

/** Which cards belong to a filtered board: the function that pages use, against the database. */

const { workspace } = useServer()

// biome-ignore lint/suspicious/noExplicitAny: cards as a client gets them
const cardsOf = async (w: Workspace, query = ''): Promise<any[]> => {
  const { columns } = (await w.call('GET', `/board?limit=1000${query}`)).body
  return Object.values(columns as Record<string, { items: Json[] }>).flatMap(({ items }) => items)
}
const idsOf = (cards: readonly { id: string }[]) => cards.map(({ id }) => id).sort()
const queryOf = (filter: CardFilter) =>
  Object.entries(filter)
    .map(([name, value]) => `&${name}=${encodeURIComponent(value!)}`)
    .join('')

const WORDS = ['Fix', 'login', 'ÜBER', 'Σίσυφος', '100%', 'a_b', 'ΟΔΟΣ', 'İstanbul', 'ß', '日本', "it's"]
const TEXTS = ['fix', 'über', 'ΣΊΣ', 'οδοσ', '%', '_', 'ß', '日', "'s", 'istan', 'x login', 'LOGIN a']
const TAGS = ['red', 'Red', 'blue sky']
const AGENTS = ['alpha', 'beta', 'gamma']

describe('a card belongs to a filtered board', () => {
  test('exactly if the server puts it there, whatever cards and filters', async () => {
    const random = new Random(4711)
    const pick = <T>(values: readonly T[]) => random.pick(values)
    const w = await workspace()
    for (const slug of ['shop', 'Shop']) await w.post('/projects', { slug, name: slug })
    const missions = [await makeMission(w, [{ tempId: 'm1' }]), await makeMission(w, [{ tempId: 'm2' }])]
    const tasks = Array.from({ length: 60 }, () => ({
      title: Array.from({ length: random.int(1, 3) }, () => pick(WORDS)).join(' '),
      tags: TAGS.filter(() => random.chance(0.4)),
      ...(random.chance(0.3) && { agent: pick(AGENTS) }),
      // A task of a mission is in the project of the mission.
      ...(random.chance(0.3)
        ? { mission: missions[0]!.id }
        : random.chance(0.7) && { project: pick(['shop', 'Shop']) }),
    }))
    expect((await w.post('/tasks/batch', { tasks })).status).toBe(201)
    for (const agent of AGENTS) for (let n = 0; n < 4; n++) await take(w, agent)
    const cards = await cardsOf(w)
    expect(cards).toHaveLength(62)
    const filters: CardFilter[] = Array.from({ length: 80 }, () => ({
      ...(random.chance(0.3) && { mission: String(pick(missions).id) }),
      ...(random.chance(0.3) && { project: pick(['shop', 'Shop']) }),
      ...(random.chance(0.4) && { agent: pick(AGENTS) }),
      ...(random.chance(0.3) && { tag: pick([...TAGS, 'RED']) }),
      ...(random.chance(0.5) && { q: pick(TEXTS) }),
    }))
    let found = 0
    for (const filter of filters) {
      const here = idsOf(cards.filter((card) => matches(card, filter)))
      expect([filter, here]).toEqual([filter, idsOf(await cardsOf(w, queryOf(filter)))])
      found += here.length
    }
    expect(found).toBeGreaterThan(100)
  })

  test('only if it is work: what serves another task is shown with that task', async () => {
    const card = {
      purpose: 'work',
      missionId: null,
      project: null,
      agent: null,
      holder: null,
      tags: [],
      title: '',
    } as const
    expect(matches(card, {})).toBe(true)
    expect(matches({ ...card, purpose: 'verification' }, {})).toBe(false)
  })
})
