import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import { requireAgent, unlessOwn } from '../../door/named-agents.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { freshUuid } from '../../kernel/fresh-uuid.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { Refused } from '../../pure/errors.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { listDeliveries } from '../hook-delivery/postgres.ts'
import type { HookDeliveryRecord } from '../hook-delivery/record.ts'
import { namedProject } from '../project/acts.ts'
import { requireRoutine } from '../routine/acts.ts'
import { deliver } from './acts/deliver.ts'
import { planOf } from './acts/plan.ts'
import { schemeOf } from './acts/proof.ts'
import * as api from './api.ts'
import { type ListedHook, listHooks, readHook } from './postgres.ts'
import { actorOf, type HookDoes, type HookRecord } from './record.ts'
import type { HookCommand, HookSettings } from './rules.ts'
import type { HookDeliveryView, HookPatch, HookView } from './shapes.ts'

/** Hooks: made, changed, tried and removed. What comes to them: acts/deliver.ts. */

type View = AnswerOf<typeof HookView>

const pathOf = (hookId: string) => `/api/v1/hooks/${hookId}`

function hookView(hook: ListedHook): View {
  const { hookId, name, scheme, does, events, conditions, perMinute, isEnabled, version } = hook
  const { lastAt, lastVerdict, previousEndsAt, createdBy, createdAt, updatedAt } = hook
  return {
    ...{ id: hookId, name, scheme, path: pathOf(hookId), does, events, conditions, perMinute },
    enabled: isEnabled,
    previousSecretUntil: previousEndsAt === null ? null : instant(previousEndsAt),
    lastDelivery: lastAt === null ? null : { receivedAt: instant(lastAt), verdict: lastVerdict! },
    ...{ createdBy, createdAt: instant(createdAt), updatedAt: instant(updatedAt), version },
  }
}

const deliveryView = (one: HookDeliveryRecord): AnswerOf<typeof HookDeliveryView> => ({
  id: one.deliveryId,
  receivedAt: instant(one.receivedAt),
  address: one.address,
  sentAs: one.sentAs,
  event: one.event,
  bytes: one.bytes,
  verdict: one.verdict,
  reason: one.reason,
  made: one.made === null ? null : { kind: one.made, id: one.madeId! },
  repeats: one.repeats,
})

async function requireHook(kernel: ServerKernel, { workspaceId }: Caller, id: string): Promise<ListedHook> {
  const hook = await readHook(kernel.store.readers, workspaceId, id)
  if (!hook) throw new Refused('NOT_FOUND', `There is no hook ${id} in this workspace.`)
  return hook
}

const act = async (kernel: ServerKernel, caller: Caller, key: string, command: HookCommand) =>
  granted(await kernel.run(caller, { on: 'hook', key, uuid: key, command })).record

/** Names are looked up when they are given: a hook that can do nothing would be noticed by nobody. */
async function refuseUnknown(kernel: ServerKernel, caller: Caller, does: HookDoes): Promise<void> {
  const named = async (field: string, look: () => Promise<unknown>) => {
    try {
      await look()
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== 'NOT_FOUND') throw error
      throw Refused.field('VALIDATION_FAILED', `does.${field}`, `names no ${field} of this workspace`)
    }
  }
  const { agent, project, routine } = { agent: null, project: null, routine: null, ...does }
  if (agent !== null && does.kind === 'wake')
    await named('agent', () => requireAgent(kernel, caller, unlessOwn(agent)))
  if (agent !== null) unlessOwn(agent)
  if (project !== null) await named('project', () => namedProject(kernel, caller, project))
  if (routine !== null) await named('routine', () => requireRoutine(kernel, caller, routine))
}

const withToken = (hook: Pick<HookRecord, 'scheme'>, path: string, secret: string) =>
  hook.scheme === 'secret_url' ? `${path}?token=${secret}` : path

const patchOf = ({ enabled, ...rest }: z.output<typeof HookPatch>): Partial<HookSettings> =>
  Object.fromEntries(
    Object.entries({ ...rest, isEnabled: enabled }).filter(([, value]) => value !== undefined),
  )

export const hookActs = actsOf(api)({
  async createHook({ kernel }, { body, caller }) {
    const { secret: given, enabled, ...settings } = body
    const scheme = schemeOf(body)
    const secret = given ?? scheme.make()
    const kept = scheme.kept(secret)
    await refuseUnknown(kernel, caller, body.does)
    const command = { kind: 'create', ...settings, isEnabled: enabled, secret: kept } as const
    const { hookId } = await act(kernel, caller, freshUuid(), command)
    const shown = hookView(await requireHook(kernel, caller, hookId))
    return {
      ...shown,
      ...(given === undefined
        ? { path: withToken(shown, shown.path, secret), secret }
        : { path: shown.path, secret: null }),
    }
  },
  async listHooks({ kernel }, { caller, page }) {
    const hooks = await listHooks(kernel.store.readers, caller.workspaceId, page.after, page.rows)
    return page.of(hooks, hookView, ({ name }) => name)
  },
  async readHook({ kernel }, { params, caller }) {
    return hookView(await requireHook(kernel, caller, params.id))
  },
  async changeHook({ kernel }, { params, body, caller, ifVersion }) {
    await requireHook(kernel, caller, params.id)
    if (body.does) await refuseUnknown(kernel, caller, body.does)
    await act(kernel, caller, params.id, { kind: 'update', ifVersion, patch: patchOf(body) })
    return hookView(await requireHook(kernel, caller, params.id))
  },
  async deleteHook({ kernel }, { params, caller }) {
    await act(kernel, caller, params.id, { kind: 'remove' })
  },
  async rotateHook({ kernel }, { params, caller }) {
    const scheme = schemeOf(await requireHook(kernel, caller, params.id))
    const secret = scheme.make()
    await act(kernel, caller, params.id, { kind: 'rotate', secret: scheme.kept(secret) })
    const shown = hookView(await requireHook(kernel, caller, params.id))
    return { ...shown, path: withToken(shown, shown.path, secret), secret }
  },
  async testHook({ kernel }, { params, body, caller }) {
    const hook = await requireHook(kernel, caller, params.id)
    const event = body.event ?? schemeOf(hook).eventIn({}, body.payload)
    // A paused hook is tried before it takes anything.
    const on = { ...hook, isEnabled: true }
    const { verdict, reason, would } = await planOf(kernel, asHook(caller, hook), on, event, body.payload)
    if (!would) return { verdict, reason, would: null }
    const { make, agent, title, text, variables } = would
    return { verdict, reason, would: { make, agent, title, text, variables } }
  },
  async listHookDeliveries({ kernel }, { params, caller, page }) {
    const { workspaceId } = caller
    await requireHook(kernel, caller, params.id)
    const rows = await listDeliveries(kernel.store.readers, workspaceId, params.id, page.after, page.rows)
    return page.of(rows, deliveryView, ({ deliveryId }) => deliveryId)
  },
  deliverToHook: deliver,
})

/** What a test shows is what the hook would do, not what its caller would. */
const asHook = ({ workspaceId, rights }: Caller, hook: HookRecord): Caller => ({
  ...{ workspaceId, rights, actor: actorOf(hook) },
})
