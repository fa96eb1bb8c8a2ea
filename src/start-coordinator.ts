import type pino from 'pino'
import type { Config } from './config.ts'
import type { ServerKernel } from './door/server-kernel.ts'
import { Metrics } from './metrics/metrics.ts'
import type { Outgoing } from './outgoing/outgoing.ts'
import { Coordinator } from './upkeep/coordinator.ts'
import { FreeSpace } from './upkeep/free-space.ts'
import { Leadership } from './upkeep/leadership.ts'
import type { Node } from './upkeep/node.ts'
import { Outages } from './upkeep/outages.ts'

interface Parts {
  kernel: ServerKernel
  node: Node
  logger: pino.Logger
  outgoing: Outgoing
  runsActive: () => number
  version: string
}

/** Starts the coordinator of this node, with what measures it, and with what tells people when the node itself is in trouble. */
export function startCoordinator(
  { dataFolder, metricsLabels, minFreeBytes }: Config,
  { kernel, node, logger, outgoing, runsActive, version }: Parts,
  stops: (() => Promise<unknown>)[],
): { coordinator: Coordinator; metrics: Metrics } {
  const leadership = new Leadership(kernel.store, node.id)
  const passed = (ms: number) => metrics.passed(ms)
  const outages = new Outages(kernel, node.name, logger, ({ title, detail, severity, at }) =>
    coordinator.announce({
      ...{ type: 'alert_raised', at, severity, workspaceId: null },
      sentence: `${title}: ${detail}.`,
    }),
  )
  const around = { outgoing, passed, outages }
  const coordinator: Coordinator = new Coordinator(kernel, leadership, node.id, logger, around)
  const about = { version, node: node.name, mostLabels: metricsLabels, runsActive }
  const metrics: Metrics = new Metrics({ kernel, coordinator, ...about })
  coordinator.start()
  stops.push(() => coordinator.stop().finally(() => metrics.close()))
  // Below what logs must leave free, they are cut: people are told before.
  const space = { kernel, node: node.name, folder: dataFolder, leastBytes: 2 * minFreeBytes, log: logger }
  const disk = new FreeSpace(space).start()
  stops.push(() => disk.stop())
  return { coordinator, metrics }
}
