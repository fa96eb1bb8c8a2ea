import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { type Limits, LimitsInUse, LimitsSchema } from '../../core/limits.ts'
import { KeyBody, KeyView, LimitsPatch, rightsOf, WorkspaceBody } from '../../core/shapes/administration.ts'
import { listOf } from '../../core/shapes/common.ts'
import type { Kernel } from '../../flow/kernel.ts'
import { changeLimits, limitsInUse } from '../../flow/limits.ts'
import { instant } from '../../flow/views.ts'
import { type ApiKey, createKey, listKeys, revokeKey } from '../../store/postgres/keys.ts'
import { createWorkspace, readWorkspace } from '../../store/postgres/workspaces.ts'
import type { KeyRing } from '../gate.ts'
import { IdParams, route } from '../schema.ts'

const keyView = (key: ApiKey) => ({
  id: key.keyId,
  name: key.name,
  prefix: key.prefix,
  role: key.role,
  scopes: key.scopes,
  createdAt: instant(key.createdAt),
  expiresAt: instant(key.expiresAt),
  revokedAt: instant(key.revokedAt),
})

/** The limits have no version of their own; what they are is their version. */
const etagOf = (limits: Limits) => `"${hash('sha256', JSON.stringify(limits)).slice(0, 16)}"`

export function administrationRoutes(app: FastifyInstance, kernel: Kernel, keys: KeyRing): void {
  limitRoutes(app, kernel)
  workspaceRoutes(app, kernel)
  keyRoutes(app, kernel, keys)
}

function limitRoutes(app: FastifyInstance, kernel: Kernel): void {
  app.get(
    '/limits',
    route({ summary: 'What this workspace may do', tag: 'limits', needs: 'read', answer: LimitsInUse }),
    async ({ caller }, reply) => {
      const { limits, usage } = await limitsInUse(kernel, caller)
      return reply.header('etag', etagOf(limits)).send({ ...limits, usage })
    },
  )
  app.patch<{ Body: z.output<typeof LimitsPatch> }>(
    '/limits',
    route({
      summary: 'Change limits',
      tag: 'limits',
      needs: 'admin',
      body: LimitsPatch,
      answer: LimitsSchema,
    }),
    async ({ body, caller, headers }, reply) => {
      const expected = headers['if-match']
      const limits = await changeLimits(kernel, caller, body, (present) => {
        if (expected !== undefined && expected !== '*' && expected !== etagOf(present))
          throw new Refused('VERSION_MISMATCH', 'The limits were changed since they were read.')
      })
      return reply.header('etag', etagOf(limits)).send(limits)
    },
  )
}

function workspaceRoutes(app: FastifyInstance, kernel: Kernel): void {
  const { writers } = kernel.store
  app.get(
    '/workspaces',
    route({ summary: 'The workspaces of this key', tag: 'workspaces', needs: 'read' }),
    async ({ caller }) => {
      const { uuid, name } = await readWorkspace(writers, caller.workspaceId)
      return { items: [{ id: uuid, name }], nextCursor: null }
    },
  )
  app.post<{ Body: z.output<typeof WorkspaceBody> }>(
    '/workspaces',
    route({
      summary: 'Make a workspace, with its first key',
      tag: 'workspaces',
      needs: 'instance',
      body: WorkspaceBody,
      status: 201,
    }),
    async ({ body, caller }, reply) => {
      const workspace = await createWorkspace(writers, body.name, caller.actor)
      const owner = await createKey(
        writers,
        workspace.workspaceId,
        { name: 'owner', role: 'owner' },
        caller.actor,
      )
      return reply.code(201).send({ id: workspace.uuid, name: workspace.name, ownerKey: owner.key })
    },
  )
}

function keyRoutes(app: FastifyInstance, kernel: Kernel, keys: KeyRing): void {
  const { writers } = kernel.store
  app.get(
    '/keys',
    route({ summary: 'Keys of this workspace', tag: 'keys', needs: 'admin', answer: listOf(KeyView) }),
    async ({ caller }) => ({
      items: (await listKeys(writers, caller.workspaceId)).map(keyView),
      nextCursor: null,
    }),
  )
  app.post<{ Body: z.output<typeof KeyBody> }>(
    '/keys',
    route({
      summary: 'Make a key; it is shown once',
      tag: 'keys',
      needs: 'admin',
      body: KeyBody,
      status: 201,
      answer: KeyView.extend({ key: z.string() }),
    }),
    async ({ body, caller }, reply) => {
      const beyond = rightsOf(body.role, body.scopes).find((right) => !caller.rights.has(right))
      if (beyond) throw new Refused('FORBIDDEN', `The new key could "${beyond}", which this key cannot.`)
      const expiresAt = body.expiresAt === undefined ? undefined : Date.parse(body.expiresAt)
      const made = await createKey(writers, caller.workspaceId, { ...body, expiresAt }, caller.actor)
      return reply.code(201).send({ ...keyView(made), key: made.key })
    },
  )
  app.delete<{ Params: { id: string } }>(
    '/keys/:id',
    route({ summary: 'Revoke a key', tag: 'keys', needs: 'admin', params: IdParams, status: 204 }),
    async ({ params, caller }, reply) => {
      const outcome = await revokeKey(writers, caller.workspaceId, params.id, caller.actor)
      if (outcome === 'unknown')
        throw new Refused('NOT_FOUND', `There is no key ${params.id} in this workspace.`)
      if (outcome === 'last owner')
        throw new Refused('WRONG_STATE', 'This is the last owner key; make another one first.')
      keys.forgetAll()
      return reply.code(204).send()
    },
  )
}
