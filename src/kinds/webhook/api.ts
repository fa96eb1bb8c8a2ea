import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { byId, byUuid } from '../../pure/paging.ts'
import { listOf, Page } from '../../pure/shapes.ts'
import {
  DeliveryQuery,
  DeliveryView,
  RedeliverAnswer,
  RedeliverBody,
  RotateBody,
  TestAnswer,
  WebhookBody,
  WebhookMade,
  WebhookParams,
  WebhookPatch,
  WebhookView,
} from './shapes.ts'

/** Webhooks: other programs that are told of events. */

const tag = 'webhooks'
const nothing = { body: z.strictObject({}), bodyIsOptional: true } as const

export const createWebhook = endpoint({
  method: 'POST',
  path: '/webhooks',
  summary: 'Add a webhook; the answer has its key, once',
  tag,
  needs: 'admin',
  body: WebhookBody,
  status: 201,
  answer: WebhookMade,
  etag: 'version',
  isSecret: true,
})

export const listWebhooks = endpoint({
  method: 'GET',
  path: '/webhooks',
  summary: 'List webhooks, oldest first',
  tag,
  needs: 'read',
  query: z.strictObject(Page),
  answer: listOf(WebhookView),
  paging: byUuid,
})

export const readWebhook = endpoint({
  method: 'GET',
  path: '/webhooks/:id',
  summary: 'Read a webhook, and how its deliveries go',
  tag,
  needs: 'read',
  params: WebhookParams,
  answer: WebhookView,
  etag: 'version',
})

export const changeWebhook = endpoint({
  method: 'PATCH',
  path: '/webhooks/:id',
  summary: 'Change the name, address, events or format of a webhook',
  tag,
  needs: 'admin',
  params: WebhookParams,
  body: WebhookPatch,
  answer: WebhookView,
  etag: 'version',
})

export const deleteWebhook = endpoint({
  method: 'DELETE',
  path: '/webhooks/:id',
  summary: 'Remove a webhook, with its deliveries',
  tag,
  needs: 'admin',
  params: WebhookParams,
  status: 204,
  answer: null,
})

export const testWebhook = endpoint({
  method: 'POST',
  path: '/webhooks/:id/test',
  summary: 'Send a test now, and say what the receiver answered',
  tag,
  needs: 'admin',
  params: WebhookParams,
  ...nothing,
  answer: TestAnswer,
})

export const pauseWebhook = endpoint({
  method: 'POST',
  path: '/webhooks/:id/pause',
  summary: 'Send nothing to it until it is resumed',
  tag,
  needs: 'admin',
  params: WebhookParams,
  ...nothing,
  answer: WebhookView,
  etag: 'version',
})

export const resumeWebhook = endpoint({
  method: 'POST',
  path: '/webhooks/:id/resume',
  summary: 'Go on, also after it was disabled: what happened meanwhile is sent first',
  tag,
  needs: 'admin',
  params: WebhookParams,
  ...nothing,
  answer: WebhookView,
  etag: 'version',
})

export const rotateWebhook = endpoint({
  method: 'POST',
  path: '/webhooks/:id/rotate',
  summary: 'Give it a new key; the former one signs as well for a while',
  tag,
  needs: 'admin',
  params: WebhookParams,
  body: RotateBody,
  bodyIsOptional: true,
  answer: WebhookMade,
  etag: 'version',
  isSecret: true,
})

export const redeliverWebhook = endpoint({
  method: 'POST',
  path: '/webhooks/:id/redeliver',
  summary: 'Send one delivery again, or all that have failed',
  tag,
  needs: 'admin',
  params: WebhookParams,
  body: RedeliverBody,
  bodyIsOptional: true,
  answer: RedeliverAnswer,
})

export const listDeliveries = endpoint({
  method: 'GET',
  path: '/webhooks/:id/deliveries',
  summary: 'List deliveries, newest first: the last 1000, and all that have not arrived',
  tag,
  needs: 'read',
  params: WebhookParams,
  query: DeliveryQuery,
  answer: listOf(DeliveryView),
  paging: byId,
})
