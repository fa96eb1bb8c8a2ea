import { z } from 'zod'
import { actorWords } from '../../pure/code-words.ts'
import { eventsAbout, text } from '../../pure/event.ts'
import { AGENT_STATES } from '../../pure/states.ts'
import { count, holding, list, span, why } from '../../pure/words.ts'

export const agentEvent = eventsAbout({ entity: 'agent', namedIn: 'agent' }, { agent: text })

/** Only contractors have these. */
const contractor = { kind: text.optional(), template: text.optional(), missionId: text.optional() }

export const agentEvents = {
  agent_registered: agentEvent.info(
    { ...contractor, by: text },
    ({ agent, by }) => `The agent ${agent} was registered by ${actorWords(by)}.`,
  ),
  agent_updated: agentEvent.info(
    { fields: z.array(text) },
    ({ agent, fields }) => `The agent ${agent} was updated: ${list(fields)}.`,
  ),
  agent_paused: agentEvent.info(
    { ...contractor, reason: text.nullable(), graceful: z.boolean().optional() },
    ({ agent, reason, graceful }) =>
      `The agent ${agent} was ${graceful === false ? 'stopped and paused' : 'paused'}${why(reason)}.`,
  ),
  agent_resumed: agentEvent.info(contractor, ({ agent }) => `The agent ${agent} was resumed.`),
  agent_leaving: agentEvent.info(
    { ...contractor, reason: text, claims: z.int() },
    ({ agent, reason, claims }) =>
      `The agent ${agent} will be terminated when it has finished ${count(claims, 'task')}${why(reason)}.`,
  ),
  agent_terminated: agentEvent.warn(
    { ...contractor, reason: text, claims: z.int() },
    ({ agent, reason, claims }) => `The agent ${agent} was terminated${holding(claims)}${why(reason)}.`,
  ),
  agent_removed: agentEvent.info(contractor, ({ agent }) => `The agent ${agent} was removed.`),
  agent_stale: agentEvent.warn(
    { ...contractor, silentMs: z.number(), claims: z.int() },
    ({ agent, silentMs, claims }) =>
      `The agent ${agent} has been silent for ${span(silentMs)}${holding(claims)}.`,
  ),
  agent_recovered: agentEvent.info(
    { ...contractor, after: text },
    ({ agent, after }) => `The agent ${agent} recovered after "${after}".`,
  ),
  agent_faulted: agentEvent.error(
    { ...contractor, reason: text },
    ({ agent, reason }) =>
      `The agent ${agent} is in error and gets no work until it is repaired${why(reason)}.`,
  ),
  agent_tested: agentEvent.info({ ...contractor, failed: z.array(text) }, ({ agent, failed }) =>
    failed.length === 0
      ? `The agent ${agent} passed its test.`
      : `The agent ${agent} failed its test: ${list(failed)}.`,
  ),
  /** Agents that Baton runs: the first run makes the agent running, the end of the last one leaves it idle. */
  agent_status_changed: agentEvent.debug(
    { ...contractor, from: z.enum(AGENT_STATES), to: z.enum(AGENT_STATES) },
    ({ agent, to }) => `The agent ${agent} is ${to} now.`,
  ),
}

type AgentEvents = typeof agentEvents
declare module '../events.ts' {
  interface Catalogue extends AgentEvents {}
}
