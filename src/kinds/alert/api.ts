import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { listOf, Page } from '../../pure/shapes.ts'
import { newestFirst } from './paging.ts'
import { AcknowledgeBody, AlertParams, AlertQuery, AlertView } from './shapes.ts'

/** What is wrong, from when it was noticed until it is over. */

const tag = 'alerts'
const params = AlertParams

export const listAlerts = endpoint({
  method: 'GET',
  path: '/alerts',
  summary: 'List alerts, newest first',
  tag,
  needs: 'read',
  query: z.strictObject({ ...Page, ...AlertQuery }),
  answer: listOf(AlertView),
  paging: newestFirst,
})

export const readAlert = endpoint({
  method: 'GET',
  path: '/alerts/:id',
  summary: 'Read an alert',
  tag,
  needs: 'read',
  params,
  answer: AlertView,
})

export const acknowledgeAlert = endpoint({
  method: 'POST',
  path: '/alerts/:id/acknowledge',
  summary: 'Say that somebody looks after an alert; the first one who does is named',
  tag,
  needs: 'operate',
  params,
  body: AcknowledgeBody,
  answer: AlertView,
})
