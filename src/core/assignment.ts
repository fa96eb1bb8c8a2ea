/** Who is offered work, and in which order. What each is given is decided when it claims, under the locks. */

export interface Candidate {
  slug: string
  /** Sorted. */
  capabilities: readonly string[]
  held: number
  /** How much it may hold; null: any number. */
  capacity: number | null
  isDegraded: boolean
}

/** Waiting tasks that ask for the same. */
export interface WaitingKind {
  capabilities: readonly string[]
  waiting: number
}

/** What waits: for anybody who can do it, and for single agents. */
export interface AssignableTask {
  kinds: readonly WaitingKind[]
  reserved: ReadonlyMap<string, number>
}

/** Agents without a limit are not given more than this by the coordinator. */
const ENOUGH = 10

interface AgentLoad {
  candidate: Candidate
  held: number
  reserved: number
  kinds: { waiting: number }[]
}

/**
 * The agents that should be offered a task, one entry a task: always the one that is loaded least; among equals the one
 * that can do less, so that those who can do more are there for work that needs them. Nobody is named for whom nothing
 * waits, and no more often than it has room.
 */
export function offersFor(
  candidates: readonly Candidate[],
  { kinds, reserved }: AssignableTask,
  most: number,
): string[] {
  const left = kinds.map(({ waiting, capabilities }) => ({ waiting, capabilities }))
  const fitting = new Map<string, { waiting: number }[]>()
  const kindsFor = (capabilities: readonly string[]) => {
    const name = capabilities.join('\n')
    const known = fitting.get(name)
    if (known) return known
    const own = left.filter((kind) => kind.capabilities.every((one) => capabilities.includes(one)))
    fitting.set(name, own)
    return own
  }
  const standings = candidates.map(
    (candidate): AgentLoad => ({
      candidate,
      held: candidate.held,
      reserved: reserved.get(candidate.slug) ?? 0,
      kinds: kindsFor(candidate.capabilities),
    }),
  )
  const offers: string[] = []
  // Round by round: in a round everybody stands in the order of load, and who was offered one waits for the next round.
  let round = standings.filter(isFree).sort(byLoad)
  while (round.length > 0 && offers.length < most) {
    const next: AgentLoad[] = []
    const load = loadOf(round[0]!)
    for (const standing of round) {
      if (offers.length >= most) break
      // Who is loaded more than the least loaded may be overtaken by them in the next round.
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
