import type { Coordination } from '../../door/coordination.ts'
import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { once } from '../../kernel/once.ts'
import { commandWorkspace, workspaceNamed } from '../../kinds/workspace/acts.ts'
import { type ListedNode, runsByNode } from '../../postgres/cluster/nodes.ts'
import { Refused } from '../../pure/errors.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { tallyOf } from '../board/postgres/tally.ts'
import * as api from './api.ts'
import type * as shapes from './shapes.ts'

/** The coordinator and the nodes: their state, and recovery on demand. */

const TERMS_SHOWN = 20

type Node = AnswerOf<typeof shapes.NodeView>

const nodeView = (node: ListedNode, runs: ReadonlyMap<string, number>): Node => ({
  id: node.nodeId,
  name: node.name,
  pid: node.pid,
  version: node.version,
  state: node.state,
  leads: node.leadsTerm !== null,
  term: node.leadsTerm,
  runs: runs.get(node.nodeId) ?? 0,
  mostRuns: node.mostRuns,
  cpu: node.cpu,
  lagMs: node.lagMs,
  startedAt: instant(node.startedAt),
  lastSeenAt: instant(node.lastSeenAt),
  stoppedAt: instant(node.stoppedAt),
})

/** All workspaces (null) are for those who run the server; others have their own. */
async function workspaceToRecover(
  kernel: ServerKernel,
  { workspaceId, rights }: Caller,
  asked: string | undefined,
): Promise<number | null> {
  if (asked === undefined) return rights.has('instance') ? null : workspaceId
  if (rights.has('instance')) return (await workspaceNamed(kernel, asked)).workspaceId
  const { uuid } = await kernel.store.workspaces.read(workspaceId)
  if (asked !== uuid) throw new Refused('NOT_FOUND', `There is no workspace ${asked} for this key.`)
  return workspaceId
}

/** One that does not say how many runs it executes is of an earlier version, where all did. */
const executes = ({ state, mostRuns }: ListedNode) => state === 'alive' && mostRuns !== 0

/** In Mosaic's format. Whether a leader exists is read from the database, which all nodes share. */
export async function coordinatorHealth(
  kernel: ServerKernel,
  coordinator: Coordination,
): Promise<AnswerOf<typeof shapes.CoordinatorHealth>> {
  const own = coordinator.state()
  const nodes = await kernel.store.cluster.nodes()
  const leader = nodes.find(({ leadsTerm }) => leadsTerm !== null)
  return {
    status: leader ? 'healthy' : 'degraded',
    coordinator: {
      active: leader !== undefined,
      lastCycle: instant(own.lastPassAt),
      cycleCount: own.passes,
      leads: own.term !== null,
      nodes: nodes.filter(({ state }) => state === 'alive').length,
    },
    database: 'connected',
    valkey: 'not used',
    gateway: nodes.some(executes) ? 'reachable' : 'unreachable',
  }
}

export const coordinatorActs = actsOf(api)({
  readCoordinatorStatus: async ({ kernel, coordinator }, { caller: { workspaceId, rights } }) => {
    const { workspaces, cluster, readers } = kernel.store
    const [workspace, nodes, terms, stats] = await Promise.all([
      workspaces.read(workspaceId),
      cluster.nodes(),
      cluster.leaderTerms(TERMS_SHOWN),
      tallyOf(readers, workspaceId),
    ])
    const leader = nodes.find(({ leadsTerm }) => leadsTerm !== null) ?? null
    const own = coordinator.state()
    const [newest] = terms
    const seesNodes = rights.has('instance')
    const runs = seesNodes ? await runsByNode(readers) : new Map<string, number>()
    return {
      active: leader !== null,
      instanceId: leader?.nodeId ?? null,
      term: leader?.leadsTerm ?? null,
      workspaces: [workspace.uuid],
      lastHeartbeat: instant(newest?.renewedAt ?? null),
      stats,
      thisNode: {
        id: own.nodeId,
        leads: own.term !== null,
        passes: own.passes,
        lastPassAt: instant(own.lastPassAt),
        lastPassMs: own.lastPassMs,
      },
      // Names of machines and processes are for those who run them.
      nodes: seesNodes ? nodes.map((node) => nodeView(node, runs)) : [],
      terms: (seesNodes ? terms : []).map(({ term, nodeId, takenAt, renewedAt, endedAt, endReason }) => ({
        term,
        nodeId,
        takenAt: instant(takenAt),
        renewedAt: instant(renewedAt),
        endedAt: instant(endedAt),
        endReason,
      })),
    }
  },
  listNodes: async ({ kernel }) => {
    const { cluster, readers } = kernel.store
    const [nodes, runs] = await Promise.all([cluster.nodes(), runsByNode(readers)])
    return { items: nodes.map((node) => nodeView(node, runs)), nextCursor: null }
  },
  /**
   * Runs a pass on request. An event records the caller and what the pass did, in the workspace that was meant. For all of them it is
   * in the caller's own, without figures: those who may read that log may know nothing of other workspaces.
   */
  recoverNow: async ({ kernel, coordinator }, { body, caller }) => {
    const only = await workspaceToRecover(kernel, caller, body.workspaceId)
    return once(kernel, caller, async (alone) => {
      const did = await coordinator.recover(only)
      const allWorkspaces = only === null
      const meant = { ...alone, workspaceId: only ?? caller.workspaceId }
      const payload = allWorkspaces ? { did: {}, allWorkspaces } : { did }
      await commandWorkspace(kernel, meant, { kind: 'note', type: 'recovery_forced', payload })
      return { did, allWorkspaces }
    })
  },
})
