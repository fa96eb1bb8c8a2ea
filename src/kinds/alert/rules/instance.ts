import type { AlertCause } from '../causes.ts'
import { causeOf } from '../causes.ts'
import type { OpenAlert } from './changes.ts'
import type { Finding } from './decide.ts'

/** What is wrong with the instance: its nodes, and what its coordinator sees. */

/** A node, as it reports itself. */
interface NodeSeen {
  name: string
  host: string
  state: 'alive' | 'silent' | 'stopped'
  startedAt: number
  lastSeenAt: number
  silentMs: number
}

/** After this silence, what a node held has expired, and others do its work. */
const LOST_AFTER_MS = 30_000

const aboutNode = (cause: AlertCause, name: string, detail: string | null): Finding => ({
  ...{ cause, subject: name, name, detail, taskId: null, missionId: null },
})

/** A node that fell silent, unless another one was started on its machine since: that one has taken its place. */
export const lostNodes = (nodes: readonly NodeSeen[]): Finding[] =>
  nodes
    .filter((node) => node.state === 'silent' && node.silentMs >= LOST_AFTER_MS)
    .filter((lost) => !nodes.some((node) => isInPlaceOf(node, lost)))
    .map(({ name, lastSeenAt }) =>
      aboutNode('node_lost', name, `last heard at ${new Date(lastSeenAt).toISOString()}`),
    )

const isInPlaceOf = (node: NodeSeen, lost: NodeSeen) =>
  node.host === lost.host && node.startedAt >= lost.lastSeenAt && node.state !== 'silent'

/** What a node said about its disk stays, while it lives: it says itself when it is over. */
export const disksOf = (alive: ReadonlySet<string>, open: readonly OpenAlert[]): Finding[] =>
  open
    .filter(({ cause, subject }) => cause === 'disk_low' && alive.has(subject))
    .map(({ cause, subject, detail }) => aboutNode(cause, subject, detail))

/** What the coordinator saw within ten minutes. */
export interface Figures {
  longestPassMs: number
  databaseErrors: number
}

/** A threshold that a workspace has set. */
interface SetThreshold {
  cause: AlertCause
  value: number
  isOn: boolean
}

export function overThreshold(
  { longestPassMs, databaseErrors }: Figures,
  set: readonly SetThreshold[],
): Finding[] {
  const measured = [
    ['coordinator_slow', longestPassMs],
    ['database_errors', databaseErrors],
  ] as const
  return measured.flatMap(([cause, figure]) => {
    const threshold = causeOf(cause).threshold!
    const { value, isOn } = set.find((one) => one.cause === cause) ?? threshold
    if (!isOn || figure <= value) return []
    const detail = `more than ${value} ${threshold.of}`
    return [{ ...{ cause, subject: '', name: null, detail, taskId: null, missionId: null } }]
  })
}
