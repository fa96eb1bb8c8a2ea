import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as api from '../../core/api/administration.ts'
import type { RouteOf } from '../../core/api/endpoint.ts'
import { Refused } from '../../core/errors.ts'
import { originOf } from '../../core/events.ts'
import type { Limits, LimitsInUse } from '../../core/limits.ts'
import type { KeyMade, KeyView, WorkspaceMade } from '../../core/shapes/administration.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import { changeLimits, limitsInUse, workspaceNamed } from '../../flow/limits.ts'
import { slugUnlessOwn } from '../../flow/named-agents.ts'
import { instant } from '../../flow/views.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { ApiKey, KeyHolder } from '../../store/server-store.ts'
import { serve } from '../endpoint.ts'
import type { KeyRing } from '../key-ring.ts'

const keyView = (key: ApiKey): AnswerOf<typeof KeyView> => ({
  id: key.keyId,
  name: key.name,
  prefix: key.prefix,
  role: key.role,
  scopes: key.scopes,
  instanceAdmin: key.instanceAdmin,
  agent: key.agent,
  createdBy: key.createdBy,
  createdAt: instant(key.createdAt),
  expiresAt: instant(key.expiresAt),
  revokedAt: instant(key.revokedAt),
})

/** Run tokens cannot access the routes of keys. */
const holderOf = ({ key, caller: { actor, address, rights } }: FastifyRequest): KeyHolder => ({
  actor,
  keyId: key!.keyId,
  address,
  rights,
})

/** Limits have no version column; a hash of their values is their version. */
const etagOf = (limits: Limits) => `"${hash('sha256', JSON.stringify(limits)).slice(0, 16)}"`

export function administrationRoutes(app: FastifyInstance, kernel: ServerKernel, keys: KeyRing): void {
  limitRoutes(app, kernel)
  workspaceRoutes(app, kernel)
  keyRoutes(app, kernel, keys)
}

function limitRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const read = async (of: { workspaceId: number }, reply: FastifyReply) => {
    const { limits, usage } = await limitsInUse(kernel, of)
    const answer: AnswerOf<typeof LimitsInUse> = { ...limits, usage }
    return reply.header('etag', etagOf(limits)).send(answer)
  }
  const change = async (
    { workspaceId }: { workspaceId: number },
    { body, caller, headers }: FastifyRequest<RouteOf<typeof api.changeLimits>>,
    reply: FastifyReply,
  ) => {
    const expected = headers['if-match']
    const limits = await changeLimits(kernel, { workspaceId, caller }, body, (present) => {
      if (expected !== undefined && expected !== '*' && expected !== etagOf(present))
        throw new Refused('VERSION_MISMATCH', 'The limits were changed since they were read.')
    })
    return reply.header('etag', etagOf(limits)).send(limits)
  }
  serve(app, api.readLimits, ({ caller }, reply) => read(caller, reply))
  serve(app, api.changeLimits, (request, reply) => change(request.caller, request, reply))
  serve(app, api.readLimitsOfWorkspace, async ({ params }, reply) =>
    read(await workspaceNamed(kernel, params.id), reply),
  )
  serve(app, api.changeLimitsOfWorkspace, async (request, reply) =>
    change(await workspaceNamed(kernel, request.params.id), request, reply),
  )
}

function workspaceRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const { workspaces } = kernel.store
  serve(app, api.listWorkspaces, async ({ caller }) => {
    const { uuid, name } = await workspaces.read(caller.workspaceId)
    return { items: [{ id: uuid, name }], nextCursor: null }
  })
  serve(app, api.createWorkspace, async ({ body, caller }, reply) => {
    const by = originOf(caller)
    const workspace = await workspaces.create(body.name, by)
    // Created by a key of another workspace: the new key stays valid whatever happens to that one.
    const first = { name: 'owner', role: 'owner' } as const
    const owner = await kernel.store.keys.create(workspace.workspaceId, first, by)
    const answer: AnswerOf<typeof WorkspaceMade> = {
      id: workspace.uuid,
      name: workspace.name,
      ownerKey: owner.key,
    }
    return reply.code(201).header('cache-control', 'no-store').send(answer)
  })
}

function keyRoutes(app: FastifyInstance, kernel: ServerKernel, keys: KeyRing): void {
  serve(app, api.listKeys, async ({ caller }) => ({
    items: (await kernel.store.keys.list(caller.workspaceId)).map(keyView),
    nextCursor: null,
  }))
  serve(app, api.createKey, async (request, reply) => {
    const { body, caller } = request
    const expiresAt = body.expiresAt === undefined ? undefined : Date.parse(body.expiresAt)
    const agent = body.agent === undefined ? undefined : await slugUnlessOwn(kernel, caller, body.agent)
    const wanted = { ...body, expiresAt, agent }
    const made = await kernel.store.keys.create(caller.workspaceId, wanted, holderOf(request))
    const view: AnswerOf<typeof KeyMade> = { ...keyView(made), key: made.key }
    return reply.code(201).header('cache-control', 'no-store').send(view)
  })
  serve(app, api.revokeKey, async (request, reply) => {
    const { params, caller } = request
    const revoked = await kernel.store.keys.revoke(caller.workspaceId, params.id, holderOf(request))
    // The answer guarantees that the key is revoked: everything opened with it has ended.
    await keys.revoked(revoked)
    return reply.code(204).send()
  })
}
