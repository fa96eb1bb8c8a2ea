import type { z } from 'zod'
import { Refused } from '../core/errors.ts'
import { originOf } from '../core/events.ts'
import { workspaceCarriedBy } from '../core/ids.ts'
import { type Limits, type LimitsInUse, widenedLimits } from '../core/limits.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'

/** `allowed` gets the current limits under their lock, and throws to refuse the change. */
export async function changeLimits(
  kernel: ServerKernel,
  { workspaceId, caller }: { workspaceId: number; caller: Caller },
  changed: Partial<Limits>,
  allowed: (present: Limits) => void,
): Promise<Limits> {
  const by = originOf(caller)
  const limits = await kernel.store.workspaces.changeLimits(workspaceId, changed, by, (present) => {
    allowed(present)
    const widened = caller.rights.has('instance') ? [] : widenedLimits(present, changed)
    if (widened.length > 0)
      throw new Refused(
        'FORBIDDEN',
        `Widening ${widened.join(', ')} needs the right "instance", which whoever runs this server has.`,
      )
  })
  kernel.limitsChanged(workspaceId, limits)
  return limits
}

/** Any workspace of the server, for those who run it. */
export async function workspaceNamed(kernel: ServerKernel, uuid: string): Promise<{ workspaceId: number }> {
  const workspaceId = workspaceCarriedBy(uuid)
  const found = workspaceId === null ? null : await kernel.store.workspaces.read(workspaceId)
  if (found?.uuid !== uuid) throw new Refused('NOT_FOUND', `There is no workspace ${uuid}.`)
  return found
}

/** The limits and their current usage. Not from the cache: an answer contains every change that its `Baton-Seq` names. */
export async function limitsInUse(
  kernel: ServerKernel,
  { workspaceId }: { workspaceId: number },
): Promise<{ limits: Limits; usage: z.output<typeof LimitsInUse>['usage'] }> {
  const { store } = kernel
  const [limits, usage] = await Promise.all([store.limits(workspaceId), store.counts(workspaceId)])
  return { limits, usage }
}
