import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import { type Caller, granted } from '../../kernel/kernel.ts'
import { Refused } from '../../pure/errors.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { FIRST_WORKSPACE } from '../workspace/postgres.ts'
import * as api from './api.ts'
import { causeOf } from './causes.ts'
import { placeOf } from './paging.ts'
import { type AlertFilter, listAlerts, type ReadAlert } from './postgres/alerts.ts'
import { stateOf } from './record.ts'
import { alertItemId, isItem } from './rules/decide.ts'
import type { AlertView } from './shapes.ts'

/** Alerts, as people read and acknowledge them. */

type View = AnswerOf<typeof AlertView>
type NameOf = (actor: string) => string | null

/** Where the inbox shows the same. */
function itemOf(alert: ReadAlert): string | null {
  if (isItem(alert)) return alertItemId(alert.alertId)
  const { cause, subject, task, resolvedAt } = alert
  const { about, isItemAlready } = causeOf(cause)
  if (resolvedAt !== null || !isItemAlready) return null
  if (about === 'agent') return `agent:${subject}`
  return cause !== 'not_verified' && about === 'task' && task !== null ? `alert:${task}` : null
}

const viewWith =
  (nameOf: NameOf) =>
  (alert: ReadAlert): View => {
    const { alertId, cause, severity, scope, subject, name, task, mission, detail, count, comment } = alert
    const { words, about, todo } = causeOf(cause)
    const by = alert.acknowledgedBy
    return {
      ...{ id: alertId, cause, severity, scope, state: stateOf(alert), title: words },
      about: { kind: about, subject, name, taskId: task, missionId: mission },
      ...{ detail, count, firstAt: instant(alert.firstAt), lastAt: instant(alert.lastAt) },
      acknowledgedAt: instant(alert.acknowledgedAt),
      acknowledgedBy: by === null ? null : (nameOf(by) ?? by),
      ...{ comment, resolvedAt: instant(alert.resolvedAt), todo, inboxItem: itemOf(alert) },
    }
  }

/** The alerts of the instance are in its first workspace; whoever runs the server reads them from any. */
const placeFor = ({ workspaceId, rights }: Caller) => ({
  workspaces: rights.has('instance') ? [workspaceId, FIRST_WORKSPACE] : [workspaceId],
})

async function find(
  kernel: ServerKernel,
  caller: Caller,
  id: string,
): Promise<{ alert: ReadAlert; in: number }> {
  for (const workspaceId of placeFor(caller).workspaces) {
    const scope = workspaceId === caller.workspaceId ? undefined : ('instance' as const)
    const [alert] = await listAlerts(kernel.store.readers, workspaceId, { id, scope }, 1)
    if (alert) return { alert, in: workspaceId }
  }
  throw new Refused('NOT_FOUND', `There is no alert "${id}".`)
}

const namesIn = (kernel: ServerKernel, workspaceId: number, alerts: readonly ReadAlert[]) =>
  kernel.actorNames.of(
    workspaceId,
    alerts.flatMap(({ acknowledgedBy }) => acknowledgedBy ?? []),
  )

export async function showAlert(kernel: ServerKernel, caller: Caller, id: string): Promise<View> {
  const { alert } = await find(kernel, caller, id)
  return viewWith(await namesIn(kernel, caller.workspaceId, [alert]))(alert)
}

export async function acknowledgeAlert(
  kernel: ServerKernel,
  caller: Caller,
  id: string,
  comment: string | null,
): Promise<View> {
  const { in: workspaceId } = await find(kernel, caller, id)
  const mayInstance = caller.rights.has('instance')
  const command = { kind: 'acknowledge', comment, mayInstance } as const
  granted(await kernel.run({ ...caller, workspaceId }, { on: 'alert', key: id, uuid: id, command }))
  return showAlert(kernel, caller, id)
}

export const alertActs = actsOf(api)({
  async listAlerts({ kernel }, { query, caller, page }) {
    const { state, severity, cause, scope } = query
    if (scope === 'instance' && !caller.rights.has('instance'))
      throw new Refused('FORBIDDEN', 'The alerts of the instance are read with the right "instance".')
    const workspaceId = scope === 'instance' ? FIRST_WORKSPACE : caller.workspaceId
    const asked: AlertFilter = { state, severity, cause, scope, after: page.after }
    const alerts = await listAlerts(kernel.store.readers, workspaceId, asked, page.rows)
    return page.of(alerts, viewWith(await namesIn(kernel, caller.workspaceId, alerts)), placeOf)
  },
  readAlert: ({ kernel }, { params, caller }) => showAlert(kernel, caller, params.id),
  acknowledgeAlert: ({ kernel }, { params, body, caller }) =>
    acknowledgeAlert(kernel, caller, params.id, body.comment ?? null),
})
