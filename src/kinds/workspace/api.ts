import { endpoint } from '../../pure/endpoint.ts'
import { IdParams, listOf } from '../../pure/shapes.ts'
import { LimitsInUse, LimitsSchema } from './limits.ts'
import {
  KeyBody,
  KeyMade,
  KeyView,
  LimitsPatch,
  WorkspaceBody,
  WorkspaceMade,
  WorkspaceView,
} from './shapes.ts'

/** Limits, workspaces and keys. */

export const readLimits = endpoint({
  method: 'GET',
  path: '/limits',
  summary: 'Read the limits of this workspace and their usage',
  tag: 'limits',
  needs: 'read',
  answer: LimitsInUse,
})

export const changeLimits = endpoint({
  method: 'PATCH',
  path: '/limits',
  summary: 'Change limits; widening them needs the right "instance"',
  tag: 'limits',
  needs: 'admin',
  body: LimitsPatch,
  answer: LimitsSchema,
})

export const readLimitsOfWorkspace = endpoint({
  method: 'GET',
  path: '/workspaces/:id/limits',
  summary: 'Read the limits of any workspace and their usage',
  tag: 'limits',
  needs: 'instance',
  params: IdParams,
  answer: LimitsInUse,
})

export const changeLimitsOfWorkspace = endpoint({
  method: 'PATCH',
  path: '/workspaces/:id/limits',
  summary: 'Change the limits of any workspace',
  tag: 'limits',
  needs: 'instance',
  params: IdParams,
  body: LimitsPatch,
  answer: LimitsSchema,
})

export const listWorkspaces = endpoint({
  method: 'GET',
  path: '/workspaces',
  summary: 'List the workspaces of this key',
  tag: 'workspaces',
  needs: 'read',
  answer: listOf(WorkspaceView),
})

export const createWorkspace = endpoint({
  method: 'POST',
  path: '/workspaces',
  summary: 'Create a workspace with its first key',
  tag: 'workspaces',
  needs: 'instance',
  body: WorkspaceBody,
  status: 201,
  answer: WorkspaceMade,
  isSecret: true,
})

export const listKeys = endpoint({
  method: 'GET',
  path: '/keys',
  summary: 'List the keys of this workspace',
  tag: 'keys',
  needs: 'admin',
  answer: listOf(KeyView),
})

export const createKey = endpoint({
  method: 'POST',
  path: '/keys',
  summary: 'Create a key; it is shown only once',
  tag: 'keys',
  needs: 'admin',
  body: KeyBody,
  status: 201,
  answer: KeyMade,
  isSecret: true,
})

export const revokeKey = endpoint({
  method: 'DELETE',
  path: '/keys/:id',
  summary: 'Revoke a key',
  tag: 'keys',
  needs: 'admin',
  params: IdParams,
  status: 204,
  answer: null,
})
