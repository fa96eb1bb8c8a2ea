import { actsOf } from '../../door/door.ts'
import { slugOf } from '../../door/named-agents.ts'
import { Refused } from '../../pure/errors.ts'
import { AGENT_STATES, type AgentState, isHeld } from '../../pure/states.ts'
import { statesIn, taskPage } from '../task/acts/list.ts'
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
} from './acts/agents.ts'
import * as api from './api.ts'

const LONGEST_WAIT_MS = 60_000

export const agentActs = actsOf(api)({
  putAgent: async ({ kernel, execution }, { params, body, caller, ifVersion }) => {
    const { agent, isNew } = await putAgent(kernel, execution, caller, params.id, body, ifVersion)
    return { status: isNew ? 201 : 200, answer: agent }
  },
  readAgent: ({ kernel, execution }, { params, caller }) => showAgent(kernel, execution, caller, params.id),
  deleteAgent: ({ kernel }, { params, caller }) => removeAgent(kernel, caller, params.id),
  listAgents: ({ kernel, execution }, { query, caller, page }) => {
    const { coordinatorEnabled, capability, kind } = query
    const filter = {
      states: agentStatesIn('state', query.state) ?? agentStatesIn('status', query.status),
      coordinatorEnabled: coordinatorEnabled === undefined ? undefined : coordinatorEnabled === 'true',
      capability,
      kind,
    }
    return agentPage(kernel, execution, caller, filter, page)
  },
  listTasksOfAgent: async ({ kernel }, call) => {
    const slug = await slugOf(kernel, call.caller, call.params.id)
    const states = statesIn(call.query.state, undefined)
    // Held tasks are found by their claims, however many tasks there are.
    const whose = states?.every(isHeld) ? { heldBy: slug } : { agent: slug }
    return taskPage(kernel, call, { ...whose, states })
  },
  pauseAgent: ({ kernel, execution }, { params, body: { reason = null, graceful }, caller }) =>
    operateAgent(kernel, execution, caller, params.id, { kind: 'pause', graceful, reason }),
  resumeAgent: ({ kernel, execution }, { params, caller }) =>
    operateAgent(kernel, execution, caller, params.id, { kind: 'resume' }),
  terminateAgent: ({ kernel, execution }, { params, body, caller }) =>
    operateAgent(kernel, execution, caller, params.id, { kind: 'terminate', ...body }),
  readAgentHealth: ({ kernel }, { params, caller }) => showHealth(kernel, caller, params.id),
  sendAgentHeartbeat: (door, { params, body, caller }) =>
    heartbeat(door.shared(AgentHeartbeats), caller, params.id, body),
  listAssignments: (door, call) => {
    const waitMs = Math.min(Number(call.query.waitMs ?? 0), LONGEST_WAIT_MS)
    return call.waiting(waitMs, (waiter) =>
      assignmentsOf(door.shared(AgentHeartbeats), call.caller, call.params.id, waitMs, waiter),
    )
  },
})

function agentStatesIn(field: string, text: string | undefined): AgentState[] | undefined {
  const names = text?.split(',')
  const unknown = names?.find((name) => !(AGENT_STATES as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw Refused.field('VALIDATION_FAILED', field, `names no state of agents: "${unknown}"`)
  return names as AgentState[] | undefined
}
