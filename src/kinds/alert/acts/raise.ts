import type { ServerKernel } from '../../../door/server-kernel.ts'
import { systemCaller, throwIfNotLeader } from '../../../kernel/caller.ts'
import { idOf } from '../../../kernel/id-of.ts'
import { FIRST_WORKSPACE } from '../../workspace/postgres.ts'
import type { AlertCause } from '../causes.ts'
import { standingAlert } from '../postgres/alerts.ts'
import type { AlertCommand, Finding } from '../rules/decide.ts'

/** Raising and resolving alerts, as Baton itself. */

/** How many alerts are changed at a time: each needs a place in a batch. */
const AT_A_TIME = 50

interface In {
  kernel: ServerKernel
  workspaceId: number
  term?: number | undefined
}

export interface Change {
  alertId: string
  command: Extract<AlertCommand, { kind: 'raise' | 'resolve' }>
}

export async function changeAlerts(
  { kernel, workspaceId, term }: In,
  changes: readonly Change[],
): Promise<void> {
  const caller = systemCaller(workspaceId, term)
  for (let from = 0; from < changes.length; from += AT_A_TIME)
    await Promise.all(
      changes.slice(from, from + AT_A_TIME).map(async ({ alertId, command }) => {
        throwIfNotLeader(await kernel.run(caller, { on: 'alert', key: alertId, uuid: alertId, command }))
      }),
    )
}

/** `last`: how often it was raised before; null: never. `isOpen`: the last one is. */
export function raising(
  workspaceId: number,
  finding: Finding,
  { last, isOpen }: { last: number | null; isOpen: boolean },
  more: { seq?: number; times?: number } = {},
): Change {
  const number = isOpen ? last! : (last ?? 0) + 1
  const { cause, subject, name, detail, taskId, missionId } = finding
  const found = { cause, subject, name, detail, taskId, missionId }
  return {
    alertId: idOf(`${workspaceId}/${cause}/${subject}/${number}`),
    command: { kind: 'raise', number, ...found, ...more },
  }
}

/** One finding, of which it is not known whether it was raised before. */
export async function raiseOne(into: In, finding: Finding, more: { seq?: number; times?: number } = {}) {
  const { readers } = into.kernel.store
  const standing = await standingAlert(readers, into.workspaceId, finding.cause, finding.subject)
  const known = { last: standing?.number ?? null, isOpen: standing?.isOpen ?? false }
  await changeAlerts(into, [raising(into.workspaceId, finding, known, more)])
}

/** Whether one was open. */
export async function resolveOne(into: In, cause: AlertCause, subject: string): Promise<boolean> {
  const standing = await standingAlert(into.kernel.store.readers, into.workspaceId, cause, subject)
  if (!standing?.isOpen) return false
  await changeAlerts(into, [{ alertId: standing.alertId, command: { kind: 'resolve' } }])
  return true
}

/** Of the instance: they are kept in its first workspace. */
export const ofInstance = (kernel: ServerKernel, term?: number): In => ({
  ...{ kernel, workspaceId: FIRST_WORKSPACE, term },
})

export const aboutNode = (cause: AlertCause, name: string, detail: string): Finding => ({
  ...{ cause, subject: name, name, detail, taskId: null, missionId: null },
})
