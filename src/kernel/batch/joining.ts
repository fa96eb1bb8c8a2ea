import type { SeenMission } from '../../kinds/mission/rules/gate.ts'
import { isEnd, stateOf } from '../../kinds/mission/states.ts'
import { type Refusal, refuseField } from '../../pure/errors.ts'

/** Whether a mission takes new tasks. */

export function whyEnded(mission: SeenMission | undefined, field: string): Refusal | null {
  if (!mission || !isEnd(mission.phase)) return null
  return refuseField('WRONG_STATE', field, `names a mission that is ${mission.phase}`)
}

/** Before its plan is approved a mission has no tasks, and one that is stopped gets no more. */
export function whyNotJoined(mission: SeenMission | undefined, uuid: string, field: string): Refusal | null {
  if (mission?.uuid !== uuid)
    return refuseField('VALIDATION_FAILED', field, 'names no mission of this workspace')
  if (mission.phase !== 'running')
    return refuseField('WRONG_STATE', field, `names a mission that is ${stateOf(mission)}`)
  return mission.closedBy.includes('cancelling')
    ? refuseField('WRONG_STATE', field, 'names a mission that is being stopped')
    : null
}
