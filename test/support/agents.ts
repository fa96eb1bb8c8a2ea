import { randomUUID } from 'node:crypto'
import type { AgentProfile, AgentRecord } from '../../src/kinds/agent/record.ts'
import type { AgentCommand, Heartbeat } from '../../src/kinds/agent/rules/command.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { Reply } from './replies.ts'
import type { Work } from './tasks.ts'

/** Agents of a workspace, through a combiner, as short functions. */

export const commandAgent = (work: Work, slug: string, command: AgentCommand, actor = 'key:test') =>
  work.run({ on: 'agent', actor, key: slug, uuid: randomUUID(), command })

export const register = (
  work: Work,
  slug: string,
  profile: Partial<AgentProfile> = {},
  ifVersion: number | null = null,
) => commandAgent(work, slug, { kind: 'register', profile, ifVersion })

export const aHeartbeat = (more: Partial<Heartbeat> = {}): Heartbeat => ({
  sentAt: null,
  status: 'healthy',
  session: null,
  currentTask: null,
  progressPercent: null,
  step: null,
  memoryMb: null,
  cpuPercent: null,
  metadata: null,
  ...more,
})

export const heartbeat = (work: Work, slug: string, more: Partial<Heartbeat> = {}) =>
  commandAgent(work, slug, { kind: 'heartbeat', heartbeat: aHeartbeat(more) }, `agent:${slug}`)
export const pause = (work: Work, slug: string, reason: string | null = null) =>
  commandAgent(work, slug, { kind: 'pause', graceful: true, reason })
export const resume = (work: Work, slug: string) => commandAgent(work, slug, { kind: 'resume' })
export const terminate = (work: Work, slug: string, graceful: boolean, reason = 'too dear') =>
  commandAgent(work, slug, { kind: 'terminate', graceful, reason })
export const remove = (work: Work, slug: string) => commandAgent(work, slug, { kind: 'remove' })
/** Time passed: its silence is judged. */
export const judge = (work: Work, slug: string) => commandAgent(work, slug, { kind: 'elapse' }, 'system')

/** The agent as a reply shows it. */
export const recordIn = (reply: Reply) => reply.record as AgentRecord
export const settledIn = (reply: Reply) =>
  reply.settled as { taskId: string; generation: number; reply: Reply }[]
export const holdingIn = (reply: Reply) => reply.holding as TaskRecord[]

/** Events about agents, of any kind, by type. */
export const agentEvents = async (work: Work) =>
  (await work.events()).filter(({ type }) => type.startsWith('agent_'))
