import type { z } from 'zod'
import type { Limits, LimitsInUse } from '../core/limits.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'

/** `allowed` gets the current limits under their lock, and throws to refuse the change. */
export async function changeLimits(
  kernel: ServerKernel,
  caller: Caller,
  changed: Partial<Limits>,
  allowed: (present: Limits) => void,
): Promise<Limits> {
  const limits = await kernel.store.workspaces.changeLimits(caller.workspaceId, changed, caller, allowed)
  kernel.limitsChanged(caller.workspaceId, limits)
  return limits
}

/** The limits and their current usage. Not from the cache: an answer contains every change that its `Baton-Seq` names. */
export async function limitsInUse(
  kernel: ServerKernel,
  { workspaceId }: Caller,
): Promise<{ limits: Limits; usage: z.output<typeof LimitsInUse>['usage'] }> {
  const { store } = kernel
  const [limits, usage] = await Promise.all([store.limits(workspaceId), store.counts(workspaceId)])
  return { limits, usage }
}
