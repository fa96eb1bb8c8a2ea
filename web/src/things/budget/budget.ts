import type { AnswerTo } from '../../../../src/client/client.ts'
import { percentOf, picosOf, textOfPicos } from '../../../../src/pure/money.ts'
import { clockText, dayText, momentText, moneyText, tokensText } from '../../parts/wording.ts'
import type { Hue } from '../../theme/marks.ts'

/** Budgets in words and figures. Amounts are text, and compared exactly. Pure. */

export type Budget = AnswerTo<'GET', '/budgets'>['items'][number]
export type Projection = AnswerTo<'GET', '/usage/projection'>
export type Scope = Budget['scope']
export type Period = Budget['period']

/** In the order of the page. */
export const SCOPES = ['workspace', 'project', 'agent', 'mission', 'task'] as const satisfies readonly Scope[]
export const PERIODS = ['none', 'day', 'week', 'month'] as const satisfies readonly Period[]

export const SCOPE_WORDS: Record<Scope, { one: string; several: string }> = {
  workspace: { one: 'The workspace', several: 'The workspace' },
  project: { one: 'A project', several: 'Projects' },
  agent: { one: 'An agent', several: 'Agents' },
  mission: { one: 'A mission', several: 'Missions' },
  task: { one: 'A task', several: 'Tasks' },
}

export const PERIOD_WORDS: Record<Period, { choice: string; limit: string }> = {
  none: { choice: 'No period', limit: 'in all' },
  day: { choice: 'Each day', limit: 'a day' },
  week: { choice: 'Each week', limit: 'a week' },
  month: { choice: 'Each month', limit: 'a month' },
}

export const nameOfBudget = ({
  scope,
  scopeId,
  scopeName,
}: Pick<Budget, 'scope' | 'scopeId' | 'scopeName'>) =>
  scope === 'workspace' ? 'The workspace' : (scopeName ?? scopeId ?? SCOPE_WORDS[scope].one)

const PAGES: Record<Exclude<Scope, 'workspace'>, string> = {
  project: 'projects',
  agent: 'agents',
  mission: 'missions',
  task: 'tasks',
}

/** The page of what it is about. */
export const pageOfScope = (scope: Scope, scopeId: string | null) =>
  scope === 'workspace' || scopeId === null ? null : `/${PAGES[scope]}/${encodeURIComponent(scopeId)}`

/** Where there is no limit, a budget only carries that all spending is stopped. */
export const hasLimit = ({ maxUsd, maxTokens }: Pick<Budget, 'maxUsd' | 'maxTokens'>) =>
  maxUsd !== null || maxTokens !== null

/** One of the two limits, with what counts in it. */
export interface Amount {
  unit: 'usd' | 'tokens'
  used: string
  reserved: string
  limit: string
  /** Neither used nor reserved. */
  left: string
  usedPercent: number
  reservedPercent: number
  /** A part of what is used was spent by simulated agents: nobody pays that. */
  isSimulated: boolean
}

export function amount(
  unit: Amount['unit'],
  used: string,
  reserved: string,
  limit: string,
  isSimulated = false,
): Amount {
  const share = (part: string) => Math.min(100, percentOf(picosOf(part), picosOf(limit)))
  const usedPercent = share(used)
  const reservedPercent = Math.min(100 - usedPercent, share(reserved))
  const rest = picosOf(limit) - picosOf(used) - picosOf(reserved)
  const left = rest > 0n ? textOfPicos(rest) : '0'
  return { unit, used, reserved, limit, left, usedPercent, reservedPercent, isSimulated }
}

/** The limit that is nearer to its end first. */
export function amountsOf(budget: Budget): Amount[] {
  const { maxUsd, maxTokens, consumedTokens, reservedTokens, isSimulated } = budget
  const amounts = [
    maxUsd !== null && amount('usd', budget.consumedUsd, budget.reservedUsd, maxUsd, isSimulated),
    maxTokens !== null && amount('tokens', String(consumedTokens), String(reservedTokens), String(maxTokens)),
  ].filter((one) => one !== false)
  return amounts.sort((a, b) => b.usedPercent - a.usedPercent)
}

/** Without the word "tokens", where it is said once for several. */
export const figureText = (unit: Amount['unit'], amount: string) =>
  unit === 'usd' ? moneyText(amount) : tokensText(Number(amount))
export const amountText = (unit: Amount['unit'], amount: string) =>
  unit === 'usd' ? moneyText(amount) : `${tokensText(Number(amount))} tokens`
/** To the last digit. */
export const exactAmount = (unit: Amount['unit'], amount: string) =>
  unit === 'usd' ? `$${amount}` : `${Number(amount).toLocaleString('en-US')} tokens`

export const isNothing = (amount: string) => picosOf(amount) === 0n

/** "$18.20 used, $2.10 reserved, of $50.00": what a bar shows, for those who hear it. */
export const amountWords = ({ unit, used, reserved, limit, isSimulated }: Amount) =>
  [
    `${figureText(unit, used)} used`,
    isSimulated && 'simulated',
    !isNothing(reserved) && `${figureText(unit, reserved)} reserved`,
    `of ${amountText(unit, limit)}`,
  ]
    .filter(Boolean)
    .join(', ')

const percentText = (percent: number) => `${percent < 10 ? percent : Math.floor(percent)} %`

export interface StateLook {
  words: string
  hue: Hue
  /** What that means, if work is kept from going on. */
  detail: string | null
}

/** Whether work goes on under it, and why not. */
export function stateOf(budget: Budget): StateLook {
  const { state, blockedBecause, percentUsed, unknownModel, stoppedBy, onUnknownPrice } = budget
  if (blockedBecause === 'stopped')
    return {
      ...{ words: 'Stopped', hue: 'held' },
      detail: `${actorText(stoppedBy)} stopped all spending.`,
    }
  if (blockedBecause === 'spent')
    return {
      ...{ words: 'Spent', hue: 'bad' },
      detail: `Nothing begins until it is raised${budget.periodEnd === null ? '' : ', or renewed'}.`,
    }
  if (blockedBecause === 'unknown_price')
    return {
      ...{ words: 'Unknown price', hue: 'ask' },
      detail: `${unknownModel ?? 'A model'} has no price${
        onUnknownPrice === 'ask' ? ': allow it, or set its price' : ''
      }.`,
    }
  const used = `${percentText(percentUsed)} used`
  return { words: used, hue: state === 'warned' ? 'ask' : 'wait', detail: null }
}

/** Of an actor as records have it: `key:anna`. */
const actorText = (actor: string | null) =>
  actor === null || actor === 'system' ? 'Baton' : actor.replace(/^[a-z]+:/, '') || 'Somebody'

/** Colour of what is used. */
export const barHue = ({ state, blockedBecause }: Pick<Budget, 'state' | 'blockedBecause'>): Hue =>
  blockedBecause === 'spent'
    ? 'bad'
    : blockedBecause === 'stopped'
      ? 'held'
      : state === 'warned'
        ? 'ask'
        : 'go'

/** "Each week, until Mon 24 Nov": its period, and when the next one begins. */
export const periodText = ({ period }: Pick<Budget, 'period'>) => PERIOD_WORDS[period].choice

const DAY_MS = 86_400_000

/** "today 14:00", "Thu 14:00", "24 Nov": as exact as its distance asks for. */
function whenText(at: number, now: number): string {
  if (Math.abs(at - now) >= 7 * DAY_MS) return dayText(at)
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  const day = isToday ? 'today' : new Date(at).toLocaleDateString('en-GB', { weekday: 'short' })
  return `${day} ${clockText(at, 'minute')}`
}

/** How fast it goes, when it is gone, and what follows from that; null: nothing was used in the last 24 hours. */
export interface Pace {
  pace: string
  end: string
  advice: string
  isTooFast: boolean
}

const HOURS = 24

export function paceOf(projection: Projection, now: number): Pace | null {
  const { dailyBurnUsd, dailyBurnTokens, exhaustedAt, periodEnd, recommendation, isEnforced } = projection
  const isInUsd = projection.remainingUsd !== null || projection.remainingTokens === null
  if (isInUsd ? isNothing(dailyBurnUsd) : dailyBurnTokens === 0) return null
  const pace = isInUsd
    ? `${moneyText(Number(dailyBurnUsd) / HOURS)} an hour`
    : `${tokensText(Math.max(1, Math.round(dailyBurnTokens / HOURS)))} tokens an hour`
  const isTooFast = recommendation === 'THROTTLE'
  const gone = exhaustedAt === null ? null : Date.parse(exhaustedAt)
  const outlasts = gone === null || (periodEnd !== null && gone > Date.parse(periodEnd))
  const end =
    gone === null
      ? 'never gone at this pace'
      : outlasts
        ? 'lasts to the end of its period'
        : gone <= now
          ? 'gone now'
          : `gone ${whenText(gone, now)}`
  const advice = isTooFast
    ? isEnforced
      ? 'Slowed down: work is handed out so that it lasts'
      : 'Slow down: at this pace it ends too soon'
    : 'Continue: it lasts'
  return { pace, end, advice, isTooFast }
}

export const endText = (budget: Pick<Budget, 'periodEnd'>, now: number) =>
  budget.periodEnd === null ? null : `renewed ${momentText(Date.parse(budget.periodEnd), now)}`

/** Dollars as the API takes them. */
const isDollars = (text: string) => /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/.test(text)
const isTokenCount = (text: string) => /^[1-9]\d{0,14}$/.test(text)

/** What is wrong with limits as they are written; null: they can be sent. */
export function limitProblems({ usd, tokens }: { usd: string; tokens: string }): {
  usd: string | null
  tokens: string | null
} {
  return {
    usd: usd === '' || (isDollars(usd) && !isNothing(usd)) ? null : 'Write dollars, such as 7.50.',
    tokens: tokens === '' || isTokenCount(tokens) ? null : 'Write a whole number.',
  }
}
