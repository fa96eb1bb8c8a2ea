import { NOTHING_ASKED, NOTHING_CHANGED, type RunsStep } from '../../run/rules/step.ts'
import type { SourceId } from '../record.ts'
import { NO_USAGE } from './step.ts'

/** What a claim or a run that is over has left of its reservation is free again. */
export const releaseReservation = ({
  holderId,
  generation,
}: {
  holderId: string
  generation: number
}): RunsStep<void> => {
  const released: SourceId[] = [{ sourceId: holderId, generation }]
  return {
    on: 'runs',
    reads: NOTHING_ASKED,
    decide: () => ({ answer: undefined, changes: { ...NOTHING_CHANGED, usage: { ...NO_USAGE, released } } }),
  }
}
