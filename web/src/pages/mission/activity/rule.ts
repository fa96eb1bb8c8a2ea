import { causeOf } from '../../../../../src/pure/cause.ts'
import type { LiveEvent } from '../../../live/card.ts'
import { countText } from '../../../parts/wording.ts'
import type { IconName } from '../../../theme/icons.ts'
import type { Hue } from '../../../theme/marks.ts'
import { codeInWords, type Part, textOf } from './parts.ts'

/** What is said about a type of event: a sentence, and what somebody wrote. Pure. */

export type Group = 'problems' | 'tasks' | 'plan' | 'people'

export interface Said {
  icon: IconName
  hue: Hue | null
  parts: Part[]
  /** In the words of a person or an agent: Markdown. */
  quote?: string | null
  /** What a program said when it failed: no Markdown. */
  error?: string | null
}

type Written = Pick<Said, 'quote' | 'error'>

export interface Rule {
  of: readonly Group[]
  /** `isSimulated`: what the mission cost is simulated money. */
  say: (event: LiveEvent, isSimulated: boolean) => Said | null
}

export const said =
  (icon: IconName, hue: Hue | null, of: readonly Group[]) =>
  (
    parts: (event: LiveEvent, isSimulated: boolean) => Part[],
    written?: (event: LiveEvent) => Written,
  ): Rule => ({
    of,
    say: (event, isSimulated) => ({ icon, hue, parts: parts(event, isSimulated), ...written?.(event) }),
  })

/** Of the payload. A code is no quote; of an error, its cause. */
export const words =
  (...fields: string[]) =>
  ({ payload }: LiveEvent): Written => {
    for (const field of fields) {
      const text = textOf(payload[field])
      if (text !== null)
        return field === 'error' ? { error: codeInWords(causeOf(text)) } : { quote: codeInWords(text) }
    }
    return {}
  }

export const tasksText = (count: unknown) =>
  count === 1 ? '1 task' : `${countText(Number(count) || 0)} tasks`
export const attemptOf = ({ payload: { attempt } }: LiveEvent) =>
  typeof attempt === 'number' && attempt > 1 ? `, attempt ${attempt}` : ''
