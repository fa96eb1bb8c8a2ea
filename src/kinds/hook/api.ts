import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { bySlug, byUuid } from '../../pure/paging.ts'
import { listOf, Page } from '../../pure/shapes.ts'
import {
  DeliveryAnswer,
  DeliveryQuery,
  HookCreate,
  HookDeliveryView,
  HookParams,
  HookPatch,
  HookTest,
  HookTestAnswer,
  HookView,
  HookWithSecret,
} from './shapes.ts'

/** Hooks: addresses that other programs call, and what has come there. */

const tag = 'hooks'
const ListQuery = z.strictObject(Page)

export const createHook = endpoint({
  method: 'POST',
  path: '/hooks',
  summary: 'Create a hook; its secret is in this answer alone',
  tag,
  needs: 'admin',
  body: HookCreate,
  status: 201,
  answer: HookWithSecret,
  etag: 'version',
  isSecret: true,
})

export const listHooks = endpoint({
  method: 'GET',
  path: '/hooks',
  summary: 'List hooks by name',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: listOf(HookView),
  paging: bySlug,
})

export const readHook = endpoint({
  method: 'GET',
  path: '/hooks/:id',
  summary: 'Read a hook',
  tag,
  needs: 'read',
  params: HookParams,
  answer: HookView,
  etag: 'version',
})

export const changeHook = endpoint({
  method: 'PATCH',
  path: '/hooks/:id',
  summary: 'Change a hook: what it does, for which deliveries, and whether it takes any',
  tag,
  needs: 'admin',
  params: HookParams,
  body: HookPatch,
  answer: HookView,
  etag: 'version',
})

export const deleteHook = endpoint({
  method: 'DELETE',
  path: '/hooks/:id',
  summary: 'Remove a hook; what it made stays',
  tag,
  needs: 'admin',
  params: HookParams,
  status: 204,
  answer: null,
})

export const rotateHook = endpoint({
  method: 'POST',
  path: '/hooks/:id/rotate',
  summary: 'Make a new secret; the one before stays valid for a day',
  tag,
  needs: 'admin',
  params: HookParams,
  body: z.strictObject({}),
  bodyIsOptional: true,
  answer: HookWithSecret,
  isSecret: true,
})

export const testHook = endpoint({
  method: 'POST',
  path: '/hooks/:id/test',
  summary: 'Show what a payload would do, without doing it',
  tag,
  needs: 'operate',
  params: HookParams,
  body: HookTest,
  answer: HookTestAnswer,
})

export const listHookDeliveries = endpoint({
  method: 'GET',
  path: '/hooks/:id/deliveries',
  summary: 'List what has come in the last days, newest first',
  tag,
  needs: 'read',
  params: HookParams,
  query: ListQuery,
  answer: listOf(HookDeliveryView),
  paging: byUuid,
})

export const deliverToHook = endpoint({
  method: 'POST',
  path: '/hooks/:id',
  summary: 'Deliver a payload: JSON, signed as the hook asks for',
  description:
    'Without a key: the signature or token is the proof. An unknown hook and a wrong proof get the same answer; the log of the hook says what was wrong.',
  tag,
  needs: 'nothing',
  params: HookParams,
  query: DeliveryQuery,
  takesSigned: true,
  answer: DeliveryAnswer,
})
