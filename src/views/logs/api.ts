import { NotedAnswer } from '../../kinds/task/shapes/claims.ts'
import { endpoint } from '../../pure/endpoint.ts'
import { afterSeq } from '../../pure/paging.ts'
import { IdParams, listOf } from '../../pure/shapes.ts'
import { CoordinatorEntryView, LogBody, LogEntryView, LogQuery } from './shapes.ts'

/** The logs of tasks and of the coordinator. */

const tag = 'logs'

export const readTaskLog = endpoint({
  method: 'GET',
  path: '/tasks/:id/logs',
  summary: 'Read the log of a task, newest first',
  tag,
  needs: 'read',
  params: IdParams,
  query: LogQuery,
  answer: listOf(LogEntryView),
  paging: afterSeq,
})

export const addToTaskLog = endpoint({
  method: 'POST',
  path: '/tasks/:id/logs',
  summary: 'Add lines to the log of a claimed task',
  description:
    'For information that people need about a task: decisions, findings, warnings. All lines are written or none, and only under the current claim. The output of a program belongs in the log of its run: lines are kept forever, and every reader of the events gets them.',
  tag,
  needs: 'work',
  params: IdParams,
  body: LogBody,
  answer: NotedAnswer,
})

export const readCoordinatorLog = endpoint({
  method: 'GET',
  path: '/coordinator/logs',
  summary: 'Read the log of agents, workers and the workspace, and of tasks whose holders were lost',
  tag,
  needs: 'admin',
  query: LogQuery,
  answer: listOf(CoordinatorEntryView),
  paging: afterSeq,
})
