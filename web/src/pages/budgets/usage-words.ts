import type { AnswerTo } from '../../../../src/client/client.ts'
import { picosOf, sumOfDollars } from '../../../../src/pure/money.ts'
import { moneyText, tokensText } from '../../parts/wording.ts'
import { writeSearch } from '../../search-params.ts'
import type { Group, PeriodBack } from './search.ts'

/** What was used, in words. Pure. */

export type Usage = AnswerTo<'GET', '/usage'>
export type UsageGroup = Usage['items'][number]
export type UsageTotal = Usage['total']

export const GROUP_WORDS: Record<Group, { tab: string; column: string; none: string }> = {
  mission: { tab: 'Missions', column: 'Mission', none: 'No mission' },
  project: { tab: 'Projects', column: 'Project', none: 'No project' },
  agent: { tab: 'Agents', column: 'Agent', none: 'No agent' },
  model: { tab: 'Models', column: 'Model', none: 'Model not told' },
  taskType: { tab: 'Task types', column: 'Type', none: 'No task' },
  day: { tab: 'Days', column: 'Day', none: '' },
}

const DAY_MS = 86_400_000
export const WINDOW: Record<PeriodBack, { ms: number; short: string; last: string }> = {
  '24h': { ms: DAY_MS, short: '24 h', last: 'the last 24 hours' },
  '7d': { ms: 7 * DAY_MS, short: '7 d', last: 'the last 7 days' },
  '30d': { ms: 30 * DAY_MS, short: '30 d', last: 'the last 30 days' },
  '90d': { ms: 90 * DAY_MS, short: '90 d', last: 'the last 90 days' },
}

/** A day as the server names it, in the time zone of the workspace: "12 Nov". */
export const dayWords = (day: string) =>
  new Date(`${day}T00:00:00Z`).toLocaleDateString('en-GB', {
    ...{ day: 'numeric', month: 'short', timeZone: 'UTC' },
  })

export const nameOfGroup = (group: Group, { key, name }: Pick<UsageGroup, 'key' | 'name'>) =>
  key === null ? GROUP_WORDS[group].none : group === 'day' ? dayWords(key) : (name ?? key)

/** Where more is shown about it. */
export function pageOfGroup(group: Group, key: string | null): string | null {
  if (key === null) return null
  const id = encodeURIComponent(key)
  switch (group) {
    case 'mission':
      return `/missions/${id}`
    case 'project':
      return `/projects/${id}`
    case 'agent':
      return `/agents/${id}`
    case 'taskType':
      return `/board${writeSearch({ type: key })}`
    default:
      return null
  }
}

type Costs = Pick<UsageGroup, 'costUsd' | 'notionalUsd' | 'tokensUsed'>

/** Bars compare dollars where there are any, else tokens. */
export type Measure = 'usd' | 'tokens'
const hasDollars = ({ costUsd, notionalUsd }: Costs) => picosOf(sumOfDollars(costUsd, notionalUsd)) > 0n
export const measureOf = (total: Costs): Measure => (hasDollars(total) ? 'usd' : 'tokens')

/** The two parts of a bar: paid by use, or tokens; and what is not paid by use. */
export const partsOf = (measure: Measure, { costUsd, notionalUsd, tokensUsed }: Costs): [number, number] =>
  measure === 'tokens'
    ? [tokensUsed, 0]
    : [Math.max(0, Number(costUsd ?? 0)), Math.max(0, Number(notionalUsd ?? 0))]

/** The largest bar, never 0. */
export const mostOf = (measure: Measure, groups: readonly Costs[]) =>
  Math.max(
    Number.MIN_VALUE,
    ...groups.map((one) => {
      const [paid, notional] = partsOf(measure, one)
      return paid + notional
    }),
  )

/** All days of the window, also those on which nothing was used. A later day than the last that was read is not there. */
export function everyDay({ items, from, to, timeZone }: Usage): UsageGroup[] {
  const named = new Map(items.map((one) => [one.key, one]))
  const dayOf = (at: string) => new Intl.DateTimeFormat('en-CA', { timeZone }).format(new Date(at))
  const days: UsageGroup[] = []
  const last = Date.parse(`${dayOf(to)}T00:00:00Z`)
  for (let at = Date.parse(`${dayOf(from)}T00:00:00Z`); at <= last; at += DAY_MS) {
    const key = new Date(at).toISOString().slice(0, 10)
    days.push(named.get(key) ?? { ...NOTHING, key })
  }
  return days
}

const NOTHING: UsageGroup = {
  ...{
    key: null,
    name: null,
    tokens: { input: 0, cachedInput: 0, cacheWrite: null, output: 0 },
    tokensUsed: 0,
    seconds: 0,
  },
  ...{ seconds: 0, costUsd: '0', notionalUsd: '0', runs: 0, runsOfUnknownCost: 0 },
  ...{ estimatedTokens: null, estimatedTasks: null, tokensOfEstimated: null, savedUsd: null },
}

/** "+18 %": what tasks with an estimate have used, against it. */
export function againstEstimate({ tokensOfEstimated, estimatedTokens }: UsageGroup): string | null {
  if (tokensOfEstimated === null || !estimatedTokens) return null
  const percent = Math.round((tokensOfEstimated / estimatedTokens - 1) * 100)
  return percent === 0 ? 'as estimated' : `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`
}

/** One bar for those who hear it. */
export const barWords = (name: string, group: UsageGroup) =>
  [
    `${name}: ${moneyText(group.costUsd)}`,
    group.notionalUsd !== null &&
      picosOf(group.notionalUsd) > 0n &&
      `${moneyText(group.notionalUsd)} notional`,
    `${tokensText(group.tokensUsed)} tokens`,
  ]
    .filter(Boolean)
    .join(', ')
