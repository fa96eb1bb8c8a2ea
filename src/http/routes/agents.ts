import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/agents.ts'
import { Refused } from '../../core/errors.ts'
import { Slug } from '../../core/shapes/common.ts'
import { AGENT_STATES, type AgentState, isHeld } from '../../core/states.ts'
import {
  AgentHeartbeats,
  agentPage,
  assignmentsOf,
  heartbeat,
  operateAgent,
  putAgent,
  removeAgent,
  showAgent,
  showHealth,
} from '../../flow/agents.ts'
import type { Execution } from '../../flow/execution.ts'
import { slugOf } from '../../flow/named-agents.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { serve } from '../endpoint.ts'
import type { KeyRing } from '../key-ring.ts'
import { whileAdmitted } from '../live/waiting.ts'
import { numberOr, pageSize } from '../schema.ts'
import { statesIn, taskPage } from '../task-list.ts'
import { etag, versionIn } from '../versions.ts'

export function agentRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  execution: Execution,
  keys: KeyRing,
): void {
  registry(app, kernel, execution)
  lists(app, kernel, execution)
  acts(app, kernel, execution)
  signsOfLife(app, new AgentHeartbeats(kernel), keys)
}

function registry(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(app, api.putAgent, async ({ params, body, caller, headers }, reply) => {
    const ifVersion = versionIn(headers['if-match'])
    const { agent, isNew } = await putAgent(kernel, execution, caller, params.id, body, ifVersion)
    return reply
      .code(isNew ? 201 : 200)
      .header('etag', etag(agent.version))
      .send(agent)
  })
  serve(app, api.readAgent, async ({ params, caller }, reply) => {
    const agent = await showAgent(kernel, execution, caller, params.id)
    return reply.header('etag', etag(agent.version)).send(agent)
  })
  serve(app, api.deleteAgent, async ({ params, caller }, reply) => {
    await removeAgent(kernel, caller, params.id)
    return reply.code(204).send()
  })
}

function lists(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(app, api.listAgents, async ({ query, caller }) => {
    const { coordinatorEnabled, capability, cursor, kind } = query
    const filter = {
      states: agentStatesIn('state', query.state) ?? agentStatesIn('status', query.status),
      coordinatorEnabled: coordinatorEnabled === undefined ? undefined : coordinatorEnabled === 'true',
      capability,
      kind,
      after: cursor === undefined ? undefined : slugIn(cursor),
    }
    return agentPage(kernel, execution, caller, filter, pageSize(query.limit))
  })
  serve(app, api.listTasksOfAgent, async ({ params, query, caller }) => {
    const slug = await slugOf(kernel, caller, params.id)
    const states = statesIn(query.state, undefined)
    // Held tasks are found by their claims, however many tasks there are.
    const whose = states?.every(isHeld) ? { heldBy: slug } : { agent: slug }
    return taskPage(kernel, caller, { ...whose, states }, query)
  })
}

function slugIn(cursor: string): string {
  const slug = Slug.safeParse(Buffer.from(cursor, 'base64url').toString())
  if (!slug.success) throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return slug.data
}

function agentStatesIn(field: string, text: string | undefined): AgentState[] | undefined {
  const names = text?.split(',')
  const unknown = names?.find((name) => !(AGENT_STATES as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw Refused.field('VALIDATION_FAILED', field, `names no state of agents: "${unknown}"`)
  return names as AgentState[] | undefined
}

function acts(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  serve(app, api.pauseAgent, ({ params, body: { reason = null, graceful }, caller }) =>
    operateAgent(kernel, execution, caller, params.id, { kind: 'pause', graceful, reason }),
  )
  serve(app, api.resumeAgent, ({ params, caller }) =>
    operateAgent(kernel, execution, caller, params.id, { kind: 'resume' }),
  )
  serve(app, api.terminateAgent, ({ params, body, caller }) =>
    operateAgent(kernel, execution, caller, params.id, { kind: 'terminate', ...body }),
  )
}

const LONGEST_WAIT_MS = 60_000

function signsOfLife(app: FastifyInstance, desk: AgentHeartbeats, keys: KeyRing): void {
  serve(app, api.readAgentHealth, ({ params, caller }) => showHealth(desk.kernel, caller, params.id))
  serve(app, api.sendAgentHeartbeat, ({ params, body, caller }) => heartbeat(desk, caller, params.id, body))
  serve(app, api.listAssignments, (request, reply) => {
    const { params, query, caller } = request
    const waitMs = Math.min(numberOr(query.waitMs, 0), LONGEST_WAIT_MS)
    return whileAdmitted(keys, request, reply, waitMs, (waiter) =>
      assignmentsOf(desk, caller, params.id, waitMs, waiter),
    )
  })
}
