import { bigint, boolean, instant, type RecordOf, text } from '../../pure/fields.ts'
import type { AlertCause } from '../alert/causes.ts'

/** What a workspace has set as the threshold of a cause of alerts: it replaces the one of the list. */
export const THRESHOLD_FIELDS = {
  cause: text<AlertCause>(),
  value: bigint(),
  /** Whether it raises an alert. */
  isOn: boolean(),
  changedAt: instant(),
}

export interface ThresholdRecord extends RecordOf<typeof THRESHOLD_FIELDS> {}
