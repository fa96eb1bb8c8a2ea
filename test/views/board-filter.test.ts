import { describe, expect, test } from 'vitest'
import { taskStates } from '../../src/pure/states.ts'
import {
  type CardFilter,
  LISTED_FILTERS,
  matches,
  wantedIn,
  wantedText,
} from '../../src/views/board/filter.ts'
import { Random } from '../simulation/random.ts'
import { makeMission, submit, take } from '../support/http-missions.ts'
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
const TAGS = ['red', 'Red', 'blue sky', 'a,b', '!not', 'back\\slash']
const TYPES = ['build', 'test', 'docs']
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
      tags: TAGS.filter(() => random.chance(0.3)),
      taskType: pick(TYPES),
      priority: random.int(1, 10),
      ...(random.chance(0.3) && { agent: pick(AGENTS) }),
      // A task of a mission is in the project of the mission.
      ...(random.chance(0.3)
        ? { mission: missions[0]!.id }
        : random.chance(0.7) && { project: pick(['shop', 'Shop']) }),
    }))
    expect((await w.post('/tasks/batch', { tasks })).status).toBe(201)
    for (const agent of AGENTS) for (let n = 0; n < 4; n++) await take(w, agent)
    // Of every kind of state, also finished ones.
    const made = await cardsOf(w)
    for (const [place, card] of made.entries())
      if (place % 4 === 0) await w.post(`/tasks/${card.id}/${place % 8 === 0 ? 'cancel' : 'pause'}`)
    for (let n = 0; n < 8; n++) await submit(w, await take(w, 'alpha'), 'alpha')
    const cards = await cardsOf(w)
    expect(cards).toHaveLength(62)
    expect(new Set(cards.map(({ state }) => state)).size).toBeGreaterThan(4)
    const values = {
      ...{ state: taskStates, type: TYPES, priority: ['1', '2', '5', '8', '9', '10'], tag: [...TAGS, 'RED'] },
      ...{ agent: AGENTS, mission: missions.map(({ id }) => String(id)), project: ['shop', 'Shop'] },
    }
    const several = (name: keyof typeof values) => {
      const some = values[name].filter(() => random.chance(0.4))
      const [wanted, unwanted] = random.chance(0.5) ? [some, []] : [[], some]
      return (
        wantedText({ some: wanted, none: unwanted }) ?? wantedText({ some: [pick(values[name])], none: [] })!
      )
    }
    const filters: CardFilter[] = Array.from({ length: 110 }, () => ({
      ...Object.fromEntries(
        LISTED_FILTERS.filter(() => random.chance(0.25)).map((name) => [name, several(name)]),
      ),
      ...(random.chance(0.3) && { q: pick(TEXTS) }),
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
      state: 'queued',
      taskType: 'other',
      priority: 5,
    } as const
    expect(matches(card, {})).toBe(true)
    expect(matches({ ...card, purpose: 'verification' }, {})).toBe(false)
  })
})

describe('a list of values', () => {
  test('is what it was made from, whatever letters the values have', () => {
    const values = ['a', 'a,b', '!a', '\\', '\\,', ',', '!', 'a!b', 'trailing\\', '!!']
    for (const some of values)
      for (const none of values) {
        const wanted = { some: [some], none: [none] }
        expect(wantedIn(wantedText(wanted)!)).toEqual(wanted)
      }
    expect(wantedIn(wantedText({ some: values, none: [] })!)).toEqual({ some: values, none: [] })
  })

  test('of one value is that value, and nothing is no list', () => {
    expect(wantedIn('red')).toEqual({ some: ['red'], none: [] })
    expect(wantedIn('red,!blue,red')).toEqual({ some: ['red'], none: ['blue'] })
    expect(wantedText({ some: [], none: [] })).toBeUndefined()
  })
})
