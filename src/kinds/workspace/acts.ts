import { hash } from 'node:crypto'
import type { z } from 'zod'
import { actsOf, type Call, type Door } from '../../door/door.ts'
import { slugUnlessOwn } from '../../door/named-agents.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { newKey } from '../../kernel/store/new-key.ts'
import { Refused } from '../../pure/errors.ts'
import { workspaceCarriedBy } from '../../pure/ids.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { originOf } from '../events.ts'
import { createKey, revokeKey } from '../key/acts.ts'
import { type ListedKey, listKeys } from '../key/postgres.ts'
import { isTimeZone } from '../routine/rules/time-zone.ts'
import type { changeLimits as limitsEndpoint } from './api.ts'
import * as api from './api.ts'
import type { Limits, LimitsInUse } from './limits.ts'
import { makeWorkspace, readWorkspace } from './postgres.ts'
import { THE_WORKSPACE, type WorkspaceRecord } from './record.ts'
import type { WorkspaceCommand } from './rules.ts'
import type { KeyView, WorkspaceMade } from './shapes.ts'

/** `areAsRead` gets the current limits under their lock: whether the caller has read these. */
async function changeLimits(
  kernel: ServerKernel,
  { workspaceId, caller }: { workspaceId: number; caller: Caller },
  changed: Partial<Limits>,
  areAsRead: (present: Limits) => boolean,
): Promise<Limits> {
  const { timeZone } = changed
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw Refused.field('VALIDATION_FAILED', 'timeZone', 'is no time zone, such as Europe/Berlin')
  const mayWiden = caller.rights.has('instance')
  const command = { kind: 'changeLimits', changed, mayWiden, areAsRead } as const
  const { limits } = await commandWorkspace(kernel, { ...caller, workspaceId }, command)
  kernel.limitsChanged(workspaceId, limits)
  return limits
}

export async function commandWorkspace(
  kernel: ServerKernel,
  caller: Caller,
  command: WorkspaceCommand,
): Promise<WorkspaceRecord> {
  const request = { on: 'workspace', key: THE_WORKSPACE, uuid: THE_WORKSPACE, command } as const
  return granted(await kernel.run(caller, request)).record
}

/** Any workspace of the server, for those who run it. */
export async function workspaceNamed(kernel: ServerKernel, uuid: string): Promise<{ workspaceId: number }> {
  const workspaceId = workspaceCarriedBy(uuid)
  const found = workspaceId === null ? null : await readWorkspace(kernel.store.readers, workspaceId)
  if (found?.uuid !== uuid) throw new Refused('NOT_FOUND', `There is no workspace ${uuid}.`)
  return found
}

/** The limits and their current usage. Not from the cache: an answer contains every change that its `Baton-Seq` names. */
async function limitsInUse(
  kernel: ServerKernel,
  { workspaceId }: { workspaceId: number },
): Promise<{ limits: Limits; usage: z.output<typeof LimitsInUse>['usage'] }> {
  const { store } = kernel
  const [limits, usage] = await Promise.all([store.limits(workspaceId), store.counts(workspaceId)])
  return { limits, usage }
}

/** A workspace and its owner key, in one transaction. No key of it made that one: it stays valid whatever happens to the caller's. */
async function createWorkspace(
  kernel: ServerKernel,
  caller: Caller,
  name: string,
): Promise<AnswerOf<typeof WorkspaceMade>> {
  const { secret, request } = newKey({ name: 'owner', role: 'owner' }, null)
  const owner = { keyId: request.key, command: request.command }
  const made = await makeWorkspace(kernel.store, { name, owner }, originOf(caller), caller)
  return { id: made.uuid, name, ownerKey: secret }
}

/** Limits, workspaces and keys. */

const keyView = (key: ListedKey): AnswerOf<typeof KeyView> => ({
  id: key.keyId,
  name: key.name,
  prefix: key.prefix,
  role: key.role,
  scopes: key.scopes,
  instanceAdmin: key.instanceAdmin,
  agent: key.agent,
  createdBy: key.createdBy,
  createdAt: instant(key.createdAt),
  lastUsedAt: instant(key.lastUsedAt),
  expiresAt: instant(key.expiresAt),
  revokedAt: instant(key.revokedAt),
})

/** Limits have no version column; a hash of their values is their version. */
const etagOf = (limits: Limits) => `"${hash('sha256', JSON.stringify(limits)).slice(0, 16)}"`

async function read({ kernel }: Door, of: { workspaceId: number }, { reply }: Pick<Call<unknown>, 'reply'>) {
  const { limits, usage } = await limitsInUse(kernel, of)
  reply.header('etag', etagOf(limits))
  return { ...limits, usage }
}

async function change(
  { kernel }: Door,
  { workspaceId }: { workspaceId: number },
  { body, caller, headers, reply }: Omit<Call<typeof limitsEndpoint>, 'params'>,
): Promise<Limits> {
  const expected = headers['if-match']
  const areAsRead = (present: Limits) =>
    expected === undefined || expected === '*' || expected === etagOf(present)
  const limits = await changeLimits(kernel, { workspaceId, caller }, body, areAsRead)
  reply.header('etag', etagOf(limits))
  return limits
}

export const administrationActs = actsOf(api)({
  readLimits: (door, call) => read(door, call.caller, call),
  changeLimits: (door, call) => change(door, call.caller, call),
  readLimitsOfWorkspace: async (door, call) =>
    read(door, await workspaceNamed(door.kernel, call.params.id), call),
  changeLimitsOfWorkspace: async (door, call) =>
    change(door, await workspaceNamed(door.kernel, call.params.id), call),
  listWorkspaces: async ({ kernel }, { caller }) => {
    const { uuid, name } = await kernel.store.workspaces.read(caller.workspaceId)
    return { items: [{ id: uuid, name }], nextCursor: null }
  },
  createWorkspace: ({ kernel }, { body, caller }) => createWorkspace(kernel, caller, body.name),
  listKeys: async ({ kernel }, { caller }) => ({
    items: (await listKeys(kernel.store.readers, caller.workspaceId)).map(keyView),
    nextCursor: null,
  }),
  createKey: async ({ kernel }, { body, caller }) => {
    const expiresAt = body.expiresAt === undefined ? undefined : Date.parse(body.expiresAt)
    const agent = body.agent === undefined ? undefined : await slugUnlessOwn(kernel, caller, body.agent)
    const wanted = { ...body, expiresAt, agent }
    const made = await createKey(kernel, caller, wanted)
    return { ...keyView({ ...made, lastUsedAt: null }), key: made.key }
  },
  revokeKey: async ({ kernel, revoked }, { params, caller }) => {
    const ended = await revokeKey(kernel, caller, params.id)
    // The answer guarantees that the key is revoked: everything opened with it has ended.
    await revoked(ended)
  },
})
