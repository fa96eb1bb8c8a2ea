import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { byId, bySlug } from '../../pure/paging.ts'
import { Digits, listOf, Name, Page, Tag } from '../../pure/shapes.ts'
import { TaskPage } from '../task/shapes/lists.ts'
import { ListedTask } from '../task/shapes/tasks.ts'
import { AGENT_KINDS } from './record.ts'
import {
  AgentAtWork,
  AgentBody,
  AgentParams,
  AgentView,
  AssignmentsAnswer,
  HealthView,
  HeartbeatAnswer,
  HeartbeatBody,
  PauseBody,
  TerminateBody,
} from './shapes.ts'

/** Agents: their registry, what is done to them, and their signs of life. */

const tag = 'agents'
const onAgent = { tag, params: AgentParams }

export const putAgent = endpoint({
  method: 'PUT',
  path: '/agents/:id',
  ...onAgent,
  summary: 'Register or change an agent',
  description:
    'Changing adapterType, adapterConfig or runtimeConfig also needs the right "configure_agents".',
  needs: 'operate',
  body: AgentBody,
  status: [200, 201],
  answer: AgentView,
  etag: 'version',
})

export const readAgent = endpoint({
  method: 'GET',
  path: '/agents/:id',
  ...onAgent,
  summary: 'Read an agent',
  needs: 'read',
  answer: AgentAtWork,
  etag: 'version',
})

export const deleteAgent = endpoint({
  method: 'DELETE',
  path: '/agents/:id',
  ...onAgent,
  summary: 'Delete an agent that holds no claims',
  needs: 'operate',
  status: 204,
  answer: null,
})

const ListQuery = z.strictObject({
  ...Page,
  state: Name.optional(),
  status: Name.optional().describe('The same as state'),
  coordinatorEnabled: z.enum(['true', 'false']).optional(),
  capability: Tag.optional(),
  kind: z
    .enum(AGENT_KINDS)
    .optional()
    .describe('Contractors that have ended are listed only with a filter by kind or state'),
})
const TasksQuery = z.strictObject({ ...TaskPage, state: Name.optional() })

export const listAgents = endpoint({
  method: 'GET',
  path: '/agents',
  summary: 'List agents, by slug',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: listOf(AgentAtWork),
  paging: bySlug,
})

export const listTasksOfAgent = endpoint({
  method: 'GET',
  path: '/agents/:id/tasks',
  ...onAgent,
  summary: 'List the tasks that an agent holds or held last',
  needs: 'read',
  query: TasksQuery,
  answer: listOf(ListedTask),
  paging: byId,
})

const act = <const A extends string, B extends z.ZodType>(name: A, summary: string, body: B) =>
  endpoint({
    method: 'POST',
    path: `/agents/:id/${name}`,
    ...onAgent,
    summary,
    needs: 'operate',
    body,
    bodyIsOptional: true,
    answer: AgentView,
  })

export const pauseAgent = act(
  'pause',
  'Pause an agent: it gets no new work, and finishes its own or stops at once',
  PauseBody,
)
export const resumeAgent = act('resume', 'Resume a paused agent', z.strictObject({}))
export const terminateAgent = act(
  'terminate',
  'Terminate an agent, at once or after its current work',
  TerminateBody,
)

const AssignmentsQuery = z.strictObject({ waitMs: Digits.optional() })

export const readAgentHealth = endpoint({
  method: 'GET',
  path: '/agents/:id/health',
  ...onAgent,
  summary: 'Read the health of an agent',
  needs: 'read',
  answer: HealthView,
})

export const sendAgentHeartbeat = endpoint({
  method: 'POST',
  path: '/agents/:id/heartbeat',
  ...onAgent,
  summary: 'Send a heartbeat, which renews the leases that are due for renewal',
  needs: 'work',
  body: HeartbeatBody,
  bodyIsOptional: true,
  bodyLimit: 16 * 1024,
  answer: HeartbeatAnswer,
})

export const listAssignments = endpoint({
  method: 'GET',
  path: '/agents/:id/assignments',
  ...onAgent,
  summary: 'List the tasks assigned to an agent and not started; waits up to waitMs',
  needs: 'work',
  query: AssignmentsQuery,
  answer: AssignmentsAnswer,
})
