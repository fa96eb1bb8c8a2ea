import type { Tokens } from '../../../src/kinds/run/shapes/tokens.ts'

/** How amounts and times are written. Pure: the present moment is an argument. */

const whole = new Intl.NumberFormat('en-US')
const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const short = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 })

export const countText = (count: number) => whole.format(count)

/** Dollars with two digits; amounts too small for that are written in cents, so that a small amount is never 0. */
export function moneyText(usd: string | number | null): string {
  if (usd === null) return 'unknown'
  const amount = Number(usd)
  if (amount !== 0 && Math.abs(amount) < 0.1) return `${short.format(amount * 100)} ¢`
  return dollars.format(amount)
}

/** The same of simulated agents, whose dollars nobody pays: it says so. */
export const spentText = (usd: string | number | null, isSimulated: boolean) =>
  isSimulated && usd !== null ? `${moneyText(usd)} simulated` : moneyText(usd)

/** All tokens of a run: cached input is beside the input in the API, and a part of it here. Null: unknown. */
export const tokensOf = (tokens: Tokens | null): number | null =>
  tokens && tokens.input + (tokens.cachedInput ?? 0) + tokens.output

/** 950, 48 k, 1.2 M. */
export function tokensText(count: number | null): string {
  if (count === null) return 'unknown'
  if (count < 1_000) return String(count)
  const [amount, unit] = count < 999_500 ? [count / 1_000, 'k'] : [count / 1_000_000, 'M']
  return `${amount < 9.95 ? amount.toFixed(1).replace(/\.0$/, '') : Math.round(amount)} ${unit}`
}

const UNITS: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
]

/** The two largest units: "3 m 10 s", "2 d 4 h". Below ten seconds with a tenth. */
export function durationText(ms: number): string {
  if (ms < 0) return '0 s'
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`
  const seconds = Math.round(ms / 1_000) * 1_000
  const first = UNITS.findIndex(([, unit]) => seconds >= unit)
  const [[name, unit], second] = [UNITS[first]!, UNITS[first + 1]]
  const rest = second ? Math.floor((seconds % unit) / second[1]) : 0
  const large = `${Math.floor(seconds / unit)} ${name}`
  return second && rest > 0 ? `${large} ${rest} ${second[0]}` : large
}

/** The largest unit only: "8 m ago", "in 34 s", and the date when that is clearer. */
export function momentText(at: number, now: number): string {
  const distance = Math.abs(now - at)
  if (distance < 2_000) return at > now ? 'now' : 'just now'
  if (distance >= 7 * 86_400_000) return dateText(at, now)
  const [name, unit] = UNITS.find(([, one]) => distance >= one)!
  const text = `${Math.floor(distance / unit)} ${name}`
  return at > now ? `in ${text}` : `${text} ago`
}

function dateText(at: number, now: number): string {
  const isThisYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  return new Date(at).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    ...(isThisYear ? {} : { year: 'numeric' }),
  })
}

/** A day in the reader's zone: "12 Nov". */
export const dayText = (at: number) =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })

/** A time of day in the reader's zone. */
export const clockText = (at: number, exactTo: 'minute' | 'second' = 'second') =>
  new Date(at).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    ...(exactTo === 'second' ? { second: '2-digit' } : {}),
  })

/** The moment itself, to the second, in the reader's zone. */
export function exactText(at: number): string {
  return new Date(at).toLocaleString('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  })
}

export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const [amount, unit] = bytes < 999_500 ? [bytes / 1_000, 'KB'] : [bytes / 1_000_000, 'MB']
  return `${amount < 99.5 ? amount.toFixed(1).replace(/\.0$/, '') : Math.round(amount)} ${unit}`
}

/** Markdown in one line, where there is no room to draw it: without the marks of headings, lists, bold text, code and links. */
export const plainWords = (text: string): string =>
  text
    .replaceAll(/^\s*(?:#{1,6}\s+|>\s?|[-*+]\s+|```.*$)/gm, '')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/(\*\*|__|`)/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()

const NO_VERDICT = 'no_verdict'
export const isNoVerdict = (reason: string | null) => reason?.startsWith(NO_VERDICT) ?? false

/** A text that somebody wrote, as a sentence: with one full stop at its end, whatever it ended with. */
export const sentence = (text: string) => (/[.!?…:]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`)

/** Why a task waits for a person. Most reasons are words already. */
export const reasonText = (reason: string) =>
  isNoVerdict(reason) ? `No verdict${reason.slice(NO_VERDICT.length) || '.'}` : reason
