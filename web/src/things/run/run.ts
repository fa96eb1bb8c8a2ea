import type { AnswerTo } from '../../../../src/client/client.ts'
import { runErrorWords } from '../../../../src/kinds/run/rules/outcomes.ts'
import type { WakeupSource } from '../../../../src/kinds/run/rules/wakeups.ts'
import { causeOf } from '../../../../src/pure/cause.ts'

/** What all lists of runs share. Pure. */

export type ListedRun = AnswerTo<'GET', '/runs'>['items'][number]

/** Its money is simulated: nobody pays what it cost. */
export const isSimulated = ({ adapterType }: Pick<ListedRun, 'adapterType'>) => adapterType === 'simulated'

/** People distinguish runs by the end of their ids: the beginning is the minute of their creation. */
export const shortId = (id: string) => id.slice(-4)

export const SOURCE_WORDS = {
  assignment: 'Assignment',
  on_demand: 'On demand',
  timer: 'Timer',
  automation: 'Automation',
} as const satisfies Record<WakeupSource, string>

type Failed = Pick<ListedRun, 'errorMessage' | 'exitCode'>
const MOST_CAUSE_CHARS = 240

/** What its program said was the cause, in one line; null: nothing that the words for the failure do not say. */
export function causeOfRun(code: string, { errorMessage, exitCode }: Failed): string | null {
  if (!errorMessage) return null
  const cause = causeOf(errorMessage).split('\n', 1)[0]!.slice(0, MOST_CAUSE_CHARS)
  return cause === '' || cause === runErrorWords(code, exitCode) ? null : cause
}

/** Why it ended badly where there is one line: what its program said was the cause says more than that it failed. */
export const failureWords = (code: string, run: Failed): string =>
  (code === 'nonzero_exit' ? causeOfRun(code, run) : null) ?? runErrorWords(code, run.exitCode)
