import type { z } from 'zod'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import { type Caller, granted } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { workspaceCarriedBy } from '../../../pure/ids.ts'
import type { Limits, LimitsInUse } from '../limits.ts'
import { THE_WORKSPACE, type WorkspaceRecord } from '../record.ts'
import type { WorkspaceCommand } from '../rules.ts'

/** `areAsRead` gets the current limits under their lock: whether the caller has read these. */
export async function changeLimits(
  kernel: ServerKernel,
  { workspaceId, caller }: { workspaceId: number; caller: Caller },
  changed: Partial<Limits>,
  areAsRead: (present: Limits) => boolean,
): Promise<Limits> {
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
