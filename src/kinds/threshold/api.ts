import { endpoint } from '../../pure/endpoint.ts'
import { listOf } from '../../pure/shapes.ts'
import { ThresholdBody, ThresholdParams, ThresholdView } from './shapes.ts'

/** Thresholds of alerts. Those of the instance count in its first workspace. */

const tag = 'alerts'
const params = ThresholdParams

export const listThresholds = endpoint({
  method: 'GET',
  path: '/thresholds',
  summary: 'List from which figures on alerts are raised',
  tag,
  needs: 'read',
  answer: listOf(ThresholdView),
})

export const setThreshold = endpoint({
  method: 'PUT',
  path: '/thresholds/:cause',
  summary: 'Set from which figure on an alert is raised, or that none is',
  tag,
  needs: 'admin',
  params,
  body: ThresholdBody,
  answer: ThresholdView,
})

export const removeThreshold = endpoint({
  method: 'DELETE',
  path: '/thresholds/:cause',
  summary: 'Remove the threshold that this workspace has set: the default counts again',
  tag,
  needs: 'admin',
  params,
  status: 204,
  answer: null,
})
