import type { MissionRecord } from '../record.ts'

/** Missions whose outcome a person accepts: their work done, they stay `running` and wait for that. */

export const withoutOutcome = ({ outcome: _over, ...config }: MissionRecord['config']) => config

/** Whether its end waits for a person. One that is being stopped ends by itself. */
export const needsAcceptance = ({ config, closedBy }: MissionRecord) =>
  config.acceptance === 'human' && !closedBy.includes('cancelling')

/** Whether its planner makes a plan: the first one, or the next one for what was missing. */
export const isBeingPlanned = ({ phase, config }: Pick<MissionRecord, 'phase' | 'config'>) =>
  phase === 'planning' || (phase === 'running' && config.outcome?.isPlanning === true)

/** Whether a person has to decide about its outcome now. A newer plan that waits for approval comes before that. */
export const awaitsAcceptance = ({ phase, config, plan, approved }: MissionRecord) =>
  phase === 'running' &&
  config.outcome !== undefined &&
  !config.outcome.isPlanning &&
  plan?.version === approved?.version
