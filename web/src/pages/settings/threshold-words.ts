import type { AnswerTo } from '../../../../src/client/client.ts'
import { causeOf } from '../../../../src/kinds/alert/causes.ts'
import { countText, durationText } from '../../parts/wording.ts'

/** Thresholds of alerts as they are shown and written. Pure. */

export type Threshold = AnswerTo<'GET', '/thresholds'>['items'][number]

/** What has happened when the alert is raised. */
export const titleOf = ({ cause }: Threshold) => causeOf(cause).words
export const isOfInstance = ({ cause }: Threshold) => causeOf(cause).scope === 'instance'
export const defaultOf = ({ cause }: Threshold) => causeOf(cause).threshold!

/** "Seconds that a queued task waits". */
export const measureOf = ({ of }: Threshold) => of.replace(/^./, (letter) => letter.toUpperCase())

/** "4 h": nobody reads 14,400 seconds. Null: it is no duration. */
export function durationOf({ of }: Threshold, value: number): string | null {
  if (of.startsWith('milliseconds ')) return durationText(value)
  return of.startsWith('seconds ') ? durationText(value * 1_000) : null
}

/** "14,400 (4 h)". */
export function valueText(threshold: Threshold, value: number): string {
  const duration = durationOf(threshold, value)
  return duration === null ? countText(value) : `${countText(value)} (${duration})`
}

/** What is written and differs from what is saved. */
export interface ThresholdDraft {
  value?: string
  isOn?: boolean
}

/** What is wrong with the value as it is written. How large it may be, the server says. */
export const valueProblem = (text: string) =>
  /^\d{1,15}$/.test(text) ? null : 'Write a whole number, 0 or more.'

/** The words of the server after the name of the field: "must be <= 1000000000". */
export const refusalText = (message: string) =>
  `It ${message.replace('<=', 'at most').replace(/\d+/g, (digits) => countText(Number(digits)))}.`
