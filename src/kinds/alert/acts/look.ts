import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { ListedNode } from '../../../postgres/cluster/nodes.ts'
import { setThresholds } from '../../threshold/postgres.ts'
import { FIRST_WORKSPACE } from '../../workspace/postgres.ts'
import { type AlertCause, causeOf } from '../causes.ts'
import { standingAlert } from '../postgres/alerts.ts'
import { type Found, lookAround } from '../postgres/look.ts'
import { alertChanges } from '../rules/changes.ts'
import type { Finding } from '../rules/decide.ts'
import { disksOf, lostNodes, overThreshold } from '../rules/instance.ts'
import type { PassFigures } from './pass-figures.ts'
import { changeAlerts, raising } from './raise.ts'

/** Compares what is wrong now with the alerts that are open. */

interface Look {
  kernel: ServerKernel
  workspaceId: number
  term?: number | undefined
  /** The instance is looked at as well, in its first workspace; with what this process knows of the coordinator, if it is the leader. */
  instance?: { figures: PassFigures | null } | undefined
}

const wordsOf = ({ cause, detail, ...rest }: Found): Found => {
  const { threshold } = causeOf(cause)
  return { ...rest, cause, detail: threshold ? `more than ${detail} ${threshold.of}` : detail }
}

/** Returns how many alerts were raised, counted or resolved. */
export async function settleAlerts(look: Look): Promise<number> {
  const { kernel, workspaceId } = look
  const { found, open, now } = await lookAround(kernel.store.readers, workspaceId)
  const instance = workspaceId === FIRST_WORKSPACE ? look.instance : undefined
  const all: Finding[] = found.map(wordsOf)
  if (instance) {
    const [nodes, set] = await Promise.all([
      kernel.store.cluster.nodes(),
      setThresholds(kernel.store.readers, workspaceId),
    ])
    all.push(...lostNodes(nodes), ...disksOf(aliveIn(nodes), open))
    if (instance.figures) all.push(...overThreshold(instance.figures.now(), set))
  }
  const looked = (cause: AlertCause) => {
    if (causeOf(cause).scope === 'workspace') return true
    return instance !== undefined && (causeOf(cause).about === 'node' || instance.figures !== null)
  }
  const { raise, resolve } = alertChanges(all, open, looked, now)
  const last = new Map(found.map((one) => [`${one.cause} ${one.subject}`, one.last]))
  const numbers = new Map(open.map((one) => [`${one.cause} ${one.subject}`, one.number]))
  const changes = []
  for (const finding of raise) {
    const key = `${finding.cause} ${finding.subject}`
    const standing = numbers.get(key)
    // Of what is not looked for in this statement, it is read how often it was raised.
    const before =
      standing ?? last.get(key) ?? (last.has(key) ? null : await lastOf(kernel, workspaceId, finding))
    changes.push(raising(workspaceId, finding, { last: before, isOpen: standing !== undefined }))
  }
  const over = resolve.map(({ alertId }) => ({ alertId, command: { kind: 'resolve' as const } }))
  await changeAlerts(look, [...over, ...changes])
  return changes.length + over.length
}

const aliveIn = (nodes: readonly ListedNode[]) =>
  new Set(nodes.filter(({ state }) => state === 'alive').map(({ name }) => name))

const lastOf = async (kernel: ServerKernel, workspaceId: number, { cause, subject }: Finding) =>
  (await standingAlert(kernel.store.readers, workspaceId, cause, subject))?.number ?? null
