import { expect, test } from 'vitest'
import { excludedJudges } from '../../../src/kinds/verification/rules.ts'

/** Who may judge a result. */

const agent = (slug: string, more: object = {}) => ({
  ...{ slug, state: 'idle', leaving: false, model: null, adapterType: 'simulated', kind: 'roster' },
  ...{ runtimeConfig: null, ...more },
})
type Agents = Parameters<typeof excludedJudges>[0]
const excluded = (agents: object[], named: string | null = null, others: string[] = []) =>
  excludedJudges(agents as Agents, named, { producer: 'maker', others })

test('the maker never judges: alone, nobody does', () => {
  expect(excluded([agent('maker')])).toBeNull()
  expect(excluded([agent('maker')], 'maker')).toBeNull()
  expect(excluded([agent('maker'), agent('other')])).toEqual(['maker'])
})

test('agents that get only what names them judge when they are named, and not otherwise', () => {
  const reserved = agent('reserved', { runtimeConfig: { reservedOnly: true } })
  expect(excluded([agent('maker'), reserved])).toBeNull()
  expect(excluded([agent('maker'), reserved], 'reserved')).toEqual(['maker'])
  expect(excluded([agent('maker'), agent('hired', { kind: 'contractor' })])).toBeNull()
})

test('makers of parts and the same model judge only while there is no other agent', () => {
  const maker = agent('maker', { model: 'm-1' })
  const same = agent('same', { model: 'm-1' })
  expect(excluded([maker, same, agent('part'), agent('other')], null, ['part'])).toEqual([
    'maker',
    'same',
    'part',
  ])
  expect(excluded([maker, same, agent('part')], null, ['part'])).toEqual(['maker'])
})

test('agents that have ended or leave do not judge', () => {
  const gone = agent('gone', { state: 'terminated' })
  expect(excluded([agent('maker'), gone, agent('leaving', { leaving: true })])).toBeNull()
})

test('the model in the settings of an agent is its model', () => {
  const maker = agent('maker', { model: 'm-1' })
  const same = agent('same', { adapterConfig: { model: 'm-1' } })
  expect(excluded([maker, same, agent('other')])).toEqual(['maker', 'same'])
})
