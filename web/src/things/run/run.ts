import type { AnswerTo } from '../../../../src/client/client.ts'
import type { WakeupSource } from '../../../../src/kinds/run/rules/wakeups.ts'

/** What all lists of runs share. */

export type ListedRun = AnswerTo<'GET', '/runs'>['items'][number]

/** People distinguish runs by the end of their ids: the beginning is the minute of their creation. */
export const shortId = (id: string) => id.slice(-4)

export const SOURCE_WORDS = {
  assignment: 'Assignment',
  on_demand: 'On demand',
  timer: 'Timer',
  automation: 'Automation',
} as const satisfies Record<WakeupSource, string>
