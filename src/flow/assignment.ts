import { offersFor } from '../core/assignment.ts'
import type { TaskRecord } from '../core/records.ts'
import type { Caller } from '../kernel/kernel.ts'
import type { ServerKernel } from '../kernel/server-kernel.ts'
import type { Assignable } from '../store/server-store.ts'
import { leaseMsOf, runMany } from './claims.ts'

/**
 * Giving work to agents that beat. An assignment is a claim like any other, judged under the same locks by the same
 * rules, made in the name of the agent's session; the agent hears of it by its next heartbeat, by waiting for its
 * assignments or by the event.
 */

/** Offered together at first; then it is seen anew who is free and what waits, and more is offered while all of it is taken. */
const FIRST_OFFERS = 64
const MOST_OFFERS = 1_024
/** So often an offer may be in vain in a pass: what waits may be on a track that is full for everybody. */
const MOST_IN_VAIN = 128

/** Under which session an agent holds what it is given, unless its beats name one. */
const sessionFor = ({ slug, session }: Assignable) => session ?? `agent:${slug}`

export class Assignment {
  /** Who was offered something in vain, when a pass ended before everybody had been offered it: the others come first. */
  readonly #putOff = new Map<number, ReadonlySet<string>>()

  /** Gives what waits to who is free. Answers with how many tasks were given away. */
  async giveIn(kernel: ServerKernel, caller: Caller): Promise<number> {
    const { workspaceId } = caller
    let putOff = this.#putOff.get(workspaceId) ?? NOBODY
    const inVain = new Set<string>()
    for (let given = 0, atOnce = FIRST_OFFERS; ; ) {
      const { agents, waiting } = await kernel.store.assignment.read(workspaceId)
      const free = agents.filter(({ slug }) => !inVain.has(slug) && !putOff.has(slug))
      const offers = offersFor(free, waiting, atOnce)
      if (offers.length === 0 && putOff.size === 0) {
        this.#putOff.delete(workspaceId)
        return given
      }
      if (offers.length === 0) putOff = NOBODY
      const bySlug = new Map(free.map((agent) => [agent.slug, agent]))
      const offered = offers.map((slug) => bySlug.get(slug)!)
      const taken = await offerAll(kernel, caller, offered)
      for (const [slug, count] of taken) {
        given += count
        if (count === 0) inVain.add(slug)
      }
      const isAllTaken = taken.every(([, count]) => count > 0)
      atOnce = isAllTaken ? Math.min(atOnce * 4, MOST_OFFERS) : FIRST_OFFERS
      if (inVain.size >= MOST_IN_VAIN) {
        this.#putOff.set(workspaceId, new Set([...putOff, ...inVain]))
        return given
      }
    }
  }
}

const NOBODY: ReadonlySet<string> = new Set()

/** How many each was given. Who takes several of a kind chooses before others take them apart. */
async function offerAll(
  kernel: ServerKernel,
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

/** How many it was given. */
async function offer(kernel: ServerKernel, caller: Caller, agent: Assignable): Promise<number> {
  const { slug, capabilities } = agent
  const session = sessionFor(agent)
  const leaseMs = await leaseMsOf(kernel, caller, undefined)
  await kernel.sessionIsKnown(caller, session, slug)
  const pick = { agent: slug, capabilities }
  const reply = await kernel.run(caller, {
    on: 'next',
    pick,
    session,
    leaseMs,
    limit: 1,
    byCoordinator: true,
  })
  const [first] = reply.ok ? reply.claims : []
  if (!first) return 0
  const room = Math.min(agent.batchSize, (agent.capacity ?? Number.POSITIVE_INFINITY) - agent.held) - 1
  return room <= 0 ? 1 : 1 + (await offerSimilar(kernel, caller, agent, first.record, room))
}

/** More of the same kind, for an agent that takes several at a time. */
async function offerSimilar(
  kernel: ServerKernel,
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
