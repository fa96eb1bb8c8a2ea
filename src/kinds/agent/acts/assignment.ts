import type { RunKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { Assignable } from '../../../kernel/store/run-store.ts'
import { leaseMsOf, runMany } from '../../task/acts/claims.ts'
import { PURPOSES, type TaskRecord } from '../../task/record.ts'
import { offersFor } from '../rules/assignment.ts'

/**
 * Assigns work to agents that send heartbeats. An assignment is a claim like any other, decided under the same locks by
 * the same rules, made on behalf of the agent's session. The agent sees it in its next heartbeat, in a wait for its
 * assignments, or as an event.
 */

/** The first round of offers. Each round reads free agents and ready work again, and grows while every offer is taken. */
const FIRST_OFFERS = 64
const MOST_OFFERS = 1_024
/** A pass stops after this many failed offers: the ready work may be on a track that is full for every agent. */
const MOST_FAILED = 128

/** The session that holds an agent's assignments, unless its heartbeats name one. */
const sessionFor = ({ slug, session }: Assignable) => session ?? `agent:${slug}`

export class Assignment {
  /** Agents with a failed offer in a pass that ended before every agent got one. The next pass starts with the others. */
  readonly #deferred = new Map<number, ReadonlySet<string>>()

  /** Assigns ready work to free agents. Returns how many tasks were assigned. */
  async assign(kernel: RunKernel, caller: Caller): Promise<number> {
    const { workspaceId } = caller
    let deferred = this.#deferred.get(workspaceId) ?? NO_AGENTS
    const failed = new Set<string>()
    for (let given = 0, atOnce = FIRST_OFFERS; ; ) {
      const { agents, waiting } = await kernel.store.assignment.read(workspaceId)
      const free = agents.filter(({ slug }) => !failed.has(slug) && !deferred.has(slug))
      const offers = offersFor(free, waiting, atOnce)
      if (offers.length === 0 && deferred.size === 0) {
        this.#deferred.delete(workspaceId)
        return given
      }
      if (offers.length === 0) deferred = NO_AGENTS
      const bySlug = new Map(free.map((agent) => [agent.slug, agent]))
      const offered = offers.map((slug) => bySlug.get(slug)!)
      const taken = await offerAll(kernel, caller, offered)
      for (const [slug, count] of taken) {
        given += count
        if (count === 0) failed.add(slug)
      }
      const allTaken = taken.every(([, count]) => count > 0)
      atOnce = allTaken ? Math.min(atOnce * 4, MOST_OFFERS) : FIRST_OFFERS
      if (failed.size >= MOST_FAILED) {
        this.#deferred.set(workspaceId, new Set([...deferred, ...failed]))
        return given
      }
    }
  }
}

const NO_AGENTS: ReadonlySet<string> = new Set()

/** How many tasks each agent got. Agents that take batches go first, before others split up similar tasks. */
async function offerAll(
  kernel: RunKernel,
  caller: Caller,
  offered: readonly Assignable[],
): Promise<[slug: string, given: number][]> {
  const given: [string, number][] = []
  const several = new Set(offered.filter(({ batchSize }) => batchSize > 1))
  for (const agent of several) given.push([agent.slug, await offer(kernel, caller, agent)])
  const singles = offered.filter((agent) => !several.has(agent))
  const counts = await Promise.all(singles.map((agent) => offer(kernel, caller, agent)))
  return [...given, ...singles.map(({ slug }, i): [string, number] => [slug, counts[i]!])]
}

/** How many tasks the agent got. */
async function offer(kernel: RunKernel, caller: Caller, agent: Assignable): Promise<number> {
  const { slug, capabilities } = agent
  const session = sessionFor(agent)
  const leaseMs = await leaseMsOf(kernel, caller, undefined)
  await kernel.sessionIsKnown(caller, session, slug)
  const purposes = agent.takes === 'work' ? undefined : PURPOSES
  const { isReservedOnly, taskTypes } = agent
  const pick = { agent: slug, capabilities, purposes, isReservedOnly, taskTypes }
  const reply = await kernel.run(caller, {
    on: 'next',
    pick,
    session,
    leaseMs,
    limit: 1,
    byCoordinator: true,
    fitsEstimate: true,
  })
  const [first] = reply.ok ? reply.claims : []
  if (!first) return 0
  // What is similar is for any agent.
  if (isReservedOnly) return 1
  const room = Math.min(agent.batchSize, (agent.capacity ?? Number.POSITIVE_INFINITY) - agent.held) - 1
  return room <= 0 ? 1 : 1 + (await offerSimilar(kernel, caller, agent, first.record, room))
}

/** Similar tasks, for an agent that takes several at a time. */
async function offerSimilar(
  kernel: RunKernel,
  caller: Caller,
  { slug, capabilities }: Assignable,
  { id, leaseMs, session }: TaskRecord,
  room: number,
): Promise<number> {
  const similar = await kernel.store.assignment.similarTo(caller.workspaceId, id, room)
  const claim = {
    kind: 'claim',
    agent: slug,
    capabilities,
    session: session!,
    leaseMs,
    byCoordinator: true,
  } as const
  const replies = await runMany(kernel, caller, similar, ({ id: taskId, uuid }) => ({
    taskId,
    uuid,
    command: claim,
  }))
  return replies.filter(({ ok }) => ok).length
}
