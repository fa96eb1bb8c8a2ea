/** Which agents are offered work, and in which order. What each one gets is decided when it claims, under the locks. */

export interface Candidate {
  slug: string
  /** Sorted. */
  capabilities: readonly string[]
  held: number
  /** How many tasks it may hold; null: any number. */
  capacity: number | null
  isDegraded: boolean
  /** `all`: Baton runs it, with prompts for every purpose. `work`: it asks for anything else itself. */
  takes: 'all' | 'work'
  /** Baton's own, and contractors: they get only what is made for them. */
  isReservedOnly?: boolean | undefined
}

/** Waiting tasks with the same requirements. */
export interface WaitingKind {
  capabilities: readonly string[]
  /** Whether they are work. */
  isWork: boolean
  waiting: number
}

/** Waiting tasks: for any capable agent, and for single agents. */
export interface AssignableTask {
  kinds: readonly WaitingKind[]
  reserved: ReadonlyMap<string, number>
}

/** The coordinator assigns no more than this to agents without a limit. */
const ENOUGH = 10

interface AgentLoad {
  candidate: Candidate
  held: number
  reserved: number
  kinds: { waiting: number }[]
}

/**
 * The agents that should be offered a task, one entry per task: always the least loaded one; among equals the one with
 * fewer capabilities, so that more capable agents stay free for work that needs them. No agent is listed for whom no task
 * waits, nor more often than its free capacity.
 */
export function offersFor(
  candidates: readonly Candidate[],
  { kinds, reserved }: AssignableTask,
  most: number,
): string[] {
  const left = kinds.map(({ waiting, isWork, capabilities }) => ({ waiting, isWork, capabilities }))
  const fitting = new Map<string, { waiting: number }[]>()
  const kindsFor = ({ capabilities, takes, isReservedOnly }: Candidate) => {
    if (isReservedOnly) return []
    const name = `${takes}\n${capabilities.join('\n')}`
    const known = fitting.get(name)
    if (known) return known
    const can = (kind: WaitingKind) => kind.capabilities.every((one) => capabilities.includes(one))
    const own = left.filter((kind) => (kind.isWork || takes === 'all') && can(kind))
    fitting.set(name, own)
    return own
  }
  const standings = candidates.map(
    (candidate): AgentLoad => ({
      candidate,
      held: candidate.held,
      reserved: reserved.get(candidate.slug) ?? 0,
      kinds: kindsFor(candidate),
    }),
  )
  const offers: string[] = []
  // Round by round: in a round the agents are sorted by load, and an agent that got an offer waits for the next round.
  let round = standings.filter(isFree).sort(byLoad)
  while (round.length > 0 && offers.length < most) {
    const next: AgentLoad[] = []
    const load = loadOf(round[0]!)
    for (const standing of round) {
      if (offers.length >= most) break
      // An agent with more load than the least loaded may be overtaken in the next round.
      if (loadOf(standing) > load) next.push(standing)
      else if (takes(standing)) {
        offers.push(standing.candidate.slug)
        standing.held += 1
        if (isFree(standing)) next.push(standing)
      }
    }
    round = next.sort(byLoad)
  }
  return offers
}

const capacityOf = ({ capacity }: Candidate) => capacity ?? ENOUGH
const isFree = ({ candidate, held }: AgentLoad) => held < capacityOf(candidate)
const loadOf = ({ candidate, held }: AgentLoad) =>
  held / capacityOf(candidate) + (candidate.isDegraded ? 1 : 0)

function takes(standing: AgentLoad): boolean {
  if (standing.reserved > 0) {
    standing.reserved -= 1
    return true
  }
  const kind = standing.kinds.find(({ waiting }) => waiting > 0)
  if (!kind) return false
  kind.waiting -= 1
  return true
}

const byLoad = (a: AgentLoad, b: AgentLoad) =>
  loadOf(a) - loadOf(b) ||
  a.candidate.capabilities.length - b.candidate.capabilities.length ||
  (a.candidate.slug < b.candidate.slug ? -1 : 1)
