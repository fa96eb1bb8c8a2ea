import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import type { AgentCommand } from '../../core/kinds/agent/command.ts'
import { AGENT_KINDS } from '../../core/records.ts'
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
} from '../../core/shapes/agents.ts'
import { Digits, listOf, Name, Slug, Tag } from '../../core/shapes/common.ts'
import { ListedTask } from '../../core/shapes/tasks.ts'
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
  slugOf,
} from '../../flow/agents.ts'
import type { Execution } from '../../flow/execution.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { KeyRing } from '../key-ring.ts'
import { whileAdmitted } from '../live/waiting.ts'
import { numberOr, Page, pageSize, route } from '../schema.ts'
import { statesIn, TaskPage, taskPage } from '../task-list.ts'
import { etag, versionIn } from '../versions.ts'

const tag = 'agents'
const onAgent = { tag, params: AgentParams }
interface OnAgent {
  Params: { id: string }
}

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
  app.put<OnAgent & { Body: z.output<typeof AgentBody> }>(
    '/agents/:id',
    route({
      ...onAgent,
      summary: 'Register or change an agent',
      description:
        'Changing adapterType, adapterConfig or runtimeConfig also needs the right "configure_agents".',
      needs: 'operate',
      body: AgentBody,
      status: [200, 201],
      answer: AgentView,
    }),
    async ({ params, body, caller, headers }, reply) => {
      const ifVersion = versionIn(headers['if-match'])
      const { agent, isNew } = await putAgent(kernel, execution, caller, params.id, body, ifVersion)
      return reply
        .code(isNew ? 201 : 200)
        .header('etag', etag(agent.version))
        .send(agent)
    },
  )
  app.get<OnAgent>(
    '/agents/:id',
    route({ ...onAgent, summary: 'Read an agent', needs: 'read', answer: AgentAtWork }),
    async ({ params, caller }, reply) => {
      const agent = await showAgent(kernel, execution, caller, params.id)
      return reply.header('etag', etag(agent.version)).send(agent)
    },
  )
  app.delete<OnAgent>(
    '/agents/:id',
    route({
      ...onAgent,
      summary: 'Delete an agent that holds no claims',
      needs: 'operate',
      status: 204,
      answer: null,
    }),
    async ({ params, caller }, reply) => {
      await removeAgent(kernel, caller, params.id)
      return reply.code(204).send()
    },
  )
}

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

function lists(app: FastifyInstance, kernel: ServerKernel, execution: Execution): void {
  app.get<{ Querystring: z.output<typeof ListQuery> }>(
    '/agents',
    route({
      summary: 'List agents, by slug',
      tag,
      needs: 'read',
      query: ListQuery,
      answer: listOf(AgentAtWork),
    }),
    async ({ query, caller }) => {
      const { coordinatorEnabled, capability, cursor, kind } = query
      const filter = {
        states: agentStatesIn('state', query.state) ?? agentStatesIn('status', query.status),
        coordinatorEnabled: coordinatorEnabled === undefined ? undefined : coordinatorEnabled === 'true',
        capability,
        kind,
        after: cursor === undefined ? undefined : slugIn(cursor),
      }
      return agentPage(kernel, execution, caller, filter, pageSize(query.limit))
    },
  )
  app.get<OnAgent & { Querystring: z.output<typeof TasksQuery> }>(
    '/agents/:id/tasks',
    route({
      ...onAgent,
      summary: 'List the tasks that an agent holds or held last',
      needs: 'read',
      query: TasksQuery,
      answer: listOf(ListedTask),
    }),
    async ({ params, query, caller }) => {
      const slug = await slugOf(kernel, caller, params.id)
      const states = statesIn(query.state, undefined)
      // Held tasks are found by their claims, however many tasks there are.
      const whose = states?.every(isHeld) ? { heldBy: slug } : { agent: slug }
      return taskPage(kernel, caller, { ...whose, states }, query)
    },
  )
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
  const act = <B extends z.ZodType>(
    name: string,
    summary: string,
    body: B,
    command: (body: z.output<B>) => Extract<AgentCommand, { kind: 'pause' | 'resume' | 'terminate' }>,
  ) =>
    app.post<OnAgent & { Body: z.output<B> }>(
      `/agents/:id/${name}`,
      route({ ...onAgent, summary, needs: 'operate', body, bodyIsOptional: true, answer: AgentView }),
      ({ params, body, caller }) =>
        operateAgent(kernel, execution, caller, params.id, command(body as z.output<B>)),
    )
  act('pause', 'Pause an agent: assign it no new work', PauseBody, ({ reason = null }) => ({
    kind: 'pause',
    reason,
  }))
  act('resume', 'Resume a paused agent', z.strictObject({}), () => ({ kind: 'resume' }))
  act('terminate', 'Terminate an agent, at once or after its current work', TerminateBody, (body) => ({
    kind: 'terminate',
    ...body,
  }))
}

const AssignmentsQuery = z.strictObject({ waitMs: Digits.optional() })
const LONGEST_WAIT_MS = 60_000

function signsOfLife(app: FastifyInstance, desk: AgentHeartbeats, keys: KeyRing): void {
  app.get<OnAgent>(
    '/agents/:id/health',
    route({ ...onAgent, summary: 'Read the health of an agent', needs: 'read', answer: HealthView }),
    ({ params, caller }) => showHealth(desk.kernel, caller, params.id),
  )
  app.post<OnAgent & { Body: z.output<typeof HeartbeatBody> }>(
    '/agents/:id/heartbeat',
    route({
      ...onAgent,
      summary: 'Send a heartbeat, which renews the leases that are due for renewal',
      needs: 'work',
      body: HeartbeatBody,
      bodyIsOptional: true,
      bodyLimit: 16 * 1024,
      answer: HeartbeatAnswer,
    }),
    ({ params, body, caller }) => heartbeat(desk, caller, params.id, body),
  )
  app.get<OnAgent & { Querystring: z.output<typeof AssignmentsQuery> }>(
    '/agents/:id/assignments',
    route({
      ...onAgent,
      summary: 'List the tasks assigned to an agent and not started; waits up to waitMs',
      needs: 'work',
      query: AssignmentsQuery,
      answer: AssignmentsAnswer,
    }),
    (request, reply) => {
      const { params, query, caller } = request
      const waitMs = Math.min(numberOr(query.waitMs, 0), LONGEST_WAIT_MS)
      return whileAdmitted(keys, request, reply, waitMs, (waiter) =>
        assignmentsOf(desk, caller, params.id, waitMs, waiter),
      )
    },
  )
}
