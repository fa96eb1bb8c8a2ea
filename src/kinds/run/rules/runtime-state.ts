import { workspaceEvent } from '../../events.ts'
import { restsUntil } from './ending.ts'
import { changedRuntime, NOTHING_ASKED, NOTHING_CHANGED, type RunsStep } from './step.ts'
import { nextTimerAt } from './wakeups.ts'

/** What agents keep between runs, as far as no run changes it. */

/**
 * No agent on this credential is started before it accepts work again; agents known to use it are not even tried. `resetAt` is
 * that time, if the provider named one. Returns the resulting time, by the clock of the store.
 */
export const parkCredential = ({
  credential,
  agents,
  resetAt,
  model = null,
}: {
  credential: string
  agents: readonly string[]
  resetAt: number | undefined
  /** Only this model is limited: the agents continue with others. */
  model?: string | null | undefined
}): RunsStep<number> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, agents: [...agents].sort() },
  decide({ now, runtime }) {
    const until = restsUntil(resetAt, now)
    const payload = { agent: agents[0], agents: agents.length, until, ...(model !== null && { model }) }
    const changes = {
      ...NOTHING_CHANGED,
      parked: [{ credential, until }],
      runtime: (model === null ? [...runtime.values()] : []).map(({ agent, parkedUntil }) =>
        changedRuntime('credential_parked', agent, { parkedUntil: Math.max(parkedUntil ?? 0, until) }),
      ),
      events: [workspaceEvent('credential_parked', payload, { actor: 'system', now })],
    }
    return { answer: until, changes }
  },
})

/**
 * Deletes the adapter sessions of an agent and what it keeps between runs, or the session of a task: the next run begins fresh. Returns
 * how many sessions there were.
 */
export const resetSessions = (agent: string, taskKey: string | null, actor: string): RunsStep<number> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, agents: [agent], sessionsOf: [agent] },
  decide({ now, runtime, sessions }) {
    const { length } = sessions.filter((session) => taskKey === null || session.taskKey === taskKey)
    const isWhole = taskKey === null && runtime.has(agent)
    const payload = { agent, sessions: length }
    const changes = {
      ...NOTHING_CHANGED,
      deletedSessions: [{ agent, taskKey }],
      runtime: isWhole ? [changedRuntime('runtime_state_reset', agent, { sessionId: null, state: {} })] : [],
      events: [workspaceEvent('runtime_state_reset', payload, { actor, now })],
    }
    return { answer: length, changes }
  },
})

/** Sets the next timer of these agents: from now, so that missed ones are not made up for. */
export const scheduleTimers = (slugs: readonly string[]): RunsStep<void> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, agents: [...slugs].sort() },
  decide({ now, agents, runtime }) {
    const timed = [...agents.values()].filter(({ slug }) => runtime.has(slug))
    return {
      answer: undefined,
      changes: {
        ...NOTHING_CHANGED,
        runtime: timed.map((agent) =>
          changedRuntime('timer_scheduled', agent.slug, { nextTimerAt: nextTimerAt(agent, now) }),
        ),
      },
    }
  },
})
