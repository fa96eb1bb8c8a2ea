import { endpoint } from '../../pure/endpoint.ts'
import { listOf } from '../../pure/shapes.ts'
import { CoordinatorStatus, NodeView, RecoverAnswer, RecoverBody } from './shapes.ts'

/** The coordinator and the nodes. */

const tag = 'coordinator'

export const readCoordinatorStatus = endpoint({
  method: 'GET',
  path: '/coordinator/status',
  summary: 'Read the status of the coordinator and of this workspace',
  description: 'The nodes and the terms of their leaders are only for keys with the right "instance".',
  tag,
  needs: 'admin',
  answer: CoordinatorStatus,
})

export const listNodes = endpoint({
  method: 'GET',
  path: '/nodes',
  summary: 'List the nodes on this database',
  tag,
  needs: 'instance',
  answer: listOf(NodeView),
})

export const recoverNow = endpoint({
  method: 'POST',
  path: '/coordinator/recover',
  summary: 'Run all upkeep steps now: for this workspace, or for all with the right "instance"',
  tag,
  needs: 'admin',
  body: RecoverBody,
  bodyIsOptional: true,
  answer: RecoverAnswer,
})
