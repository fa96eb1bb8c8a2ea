import { ALERT_STATES } from '../../../../src/kinds/alert/record.ts'
import { param } from '../../search-params.ts'

/** The search parameters of the list of alerts. */
export const ALERTS_SEARCH = { state: param.oneOf(ALERT_STATES) }
