/** Spans of time as people write them: an amount and a unit. Pure. */

export const UNITS = [
  { unit: 's', words: 'seconds', word: 'second', seconds: 1 },
  { unit: 'm', words: 'minutes', word: 'minute', seconds: 60 },
  { unit: 'h', words: 'hours', word: 'hour', seconds: 3_600 },
  { unit: 'd', words: 'days', word: 'day', seconds: 86_400 },
] as const
export type Unit = (typeof UNITS)[number]['unit']

export interface WrittenSpan {
  amount: string
  unit: Unit
}

const isUnit = (text: string | undefined): text is Unit => UNITS.some(({ unit }) => unit === text)

/** The two parts of a span in a form: "30 m". What is no span keeps its text as the amount. */
export function partsOf(text: string): WrittenSpan {
  const [, amount, unit] = /^(.*) ([smhd])$/s.exec(text) ?? []
  return isUnit(unit) ? { amount: amount ?? '', unit } : { amount: text, unit: 'm' }
}

export const spanOf = ({ amount, unit }: WrittenSpan): string => `${amount} ${unit}`

/** Seconds in the largest unit that they are a whole number of: 5,400 are "90 m". Null is an empty amount of minutes. */
export function spanText(seconds: number | null): string {
  if (seconds === null) return spanOf({ amount: '', unit: 'm' })
  const fitting = UNITS.filter((one) => seconds >= one.seconds && seconds % one.seconds === 0)
  const { unit, seconds: size } = fitting.at(-1) ?? UNITS[0]
  return spanOf({ amount: String(seconds / size), unit })
}

/** In words: "30 minutes", "1 hour". */
export function spanWords(seconds: number): string {
  const { amount, unit } = partsOf(spanText(seconds))
  const { word, words } = UNITS.find((one) => one.unit === unit)!
  return `${amount} ${amount === '1' ? word : words}`
}

/** "every hour", "every 2 minutes". */
export const everyWords = (seconds: number): string => `every ${spanWords(seconds).replace(/^1 /, '')}`

type Read = { seconds: number | null } | { problem: string }

interface Bounds {
  least: number
  most: number
  isWhole?: boolean
}

/** The seconds of a written span; null: nothing is written. */
export function secondsIn(text: string, { least, most, isWhole = true }: Bounds): Read {
  const { amount, unit } = partsOf(text)
  const written = amount.trim().replace(',', '.')
  if (written === '') return { seconds: null }
  const number = Number(written)
  if (!Number.isFinite(number)) return { problem: 'Write a number.' }
  const seconds = number * UNITS.find((one) => one.unit === unit)!.seconds
  if (seconds < 0) return { problem: 'It cannot be negative.' }
  if (seconds < least) return { problem: `It cannot be shorter than ${spanWords(least)}.` }
  if (seconds > most) return { problem: `It cannot be longer than ${spanWords(most)}.` }
  if (isWhole && !Number.isInteger(seconds)) return { problem: 'It has to be a whole number of seconds.' }
  return { seconds }
}
