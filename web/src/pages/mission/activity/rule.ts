import type { LiveEvent } from '../../../live/card.ts'
import { countText } from '../../../parts/wording.ts'
import type { IconName } from '../../../theme/icons.ts'
import type { Hue } from '../../../theme/marks.ts'
import { causeOf } from '../../../things/task/cause.ts'
import { codeInWords, type Part, textOf } from './parts.ts'

/** What is said about a type of event: a sentence, and what somebody wrote. Pure. */

export type Group = 'problems' | 'tasks' | 'plan' | 'people'

export interface Said {
  icon: IconName
  hue: Hue | null
  parts: Part[]
  /** In the words of a person, an agent or a program. */
  quote?: string | null
}

export interface Rule {
  of: readonly Group[]
  say: (event: LiveEvent) => Said | null
}

export const said =
  (icon: IconName, hue: Hue | null, of: readonly Group[]) =>
  (parts: (event: LiveEvent) => Part[], quote?: (event: LiveEvent) => string | null): Rule => ({
    of,
    say: (event) => ({ icon, hue, parts: parts(event), quote: quote?.(event) ?? null }),
  })

/** Of the payload. A code is no quote; of an error, its cause. */
export const words =
  (...fields: string[]) =>
  ({ payload }: LiveEvent): string | null => {
    for (const field of fields) {
      const text = textOf(payload[field])
      if (text !== null) return codeInWords(field === 'error' ? causeOf(text) : text)
    }
    return null
  }

export const tasksText = (count: unknown) =>
  count === 1 ? '1 task' : `${countText(Number(count) || 0)} tasks`
export const attemptOf = ({ payload: { attempt } }: LiveEvent) =>
  typeof attempt === 'number' && attempt > 1 ? `, attempt ${attempt}` : ''
