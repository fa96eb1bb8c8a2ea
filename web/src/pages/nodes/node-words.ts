import type { AnswerTo } from '../../../../src/client/client.ts'
import { countText } from '../../parts/wording.ts'

/** Nodes and their coordinator in words. Pure. */

export type Status = AnswerTo<'GET', '/coordinator/status'>
export type Node = Status['nodes'][number]

/** Nothing was coordinated for that long. */
const LATE_MS = 60_000

export interface Health {
  hue: 'done' | 'bad' | 'ask'
  title: string
  text: string
}

/** Whether the work of this workspace is looked after, by whom, and what to do when it is not. */
export function healthOf(status: Status, now: number): Health {
  const { active, lastHeartbeat, thisNode, nodes } = status
  if (!active)
    return {
      hue: 'bad',
      title: 'No node coordinates',
      text: 'Nothing is assigned, retried or recovered until a node takes over, which usually takes a few seconds. If it lasts, look at the log of the server.',
    }
  const leader = nodes.find(({ leads }) => leads)?.name ?? (thisNode.leads ? 'This node' : 'A node')
  const at = lastPassOf(status)
  if (at !== null && now - at > LATE_MS)
    return {
      hue: 'ask',
      title: `${leader} coordinates, and is late`,
      text: 'Its last pass is more than a minute ago. Recover now runs a pass at once.',
    }
  const since =
    lastHeartbeat === null ? '' : ' It assigns work, retries what failed and takes back what was lost.'
  return { hue: 'done', title: `${leader} coordinates`, text: `All is well.${since}` }
}

/** Known of the node that answered; of another leader the last sign of life. */
export const lastPassOf = ({ thisNode, lastHeartbeat }: Status): number | null => {
  const at = thisNode.leads ? thisNode.lastPassAt : lastHeartbeat
  return at === null ? null : Date.parse(at)
}

export const STATE_WORDS: Record<Node['state'], string> = {
  alive: 'Alive',
  silent: 'Silent',
  stopped: 'Stopped',
}

const STEP_WORDS: Record<string, string> = {
  agentsJudged: 'agents checked',
  sessionsJudged: 'workers checked',
  tasksMoved: 'tasks moved',
  tasksUnblocked: 'tasks unblocked',
  missionsSettled: 'missions continued',
  routinesSettled: 'routines continued',
  contractorsSettled: 'contractors checked',
  orphansCancelled: 'orphaned tasks cancelled',
  tasksAssigned: 'tasks assigned',
  alertsSettled: 'untaken tasks marked',
  alertsFollowed: 'events read for alerts',
  alertsSwept: 'alerts raised or resolved',
  reportsWritten: 'reports written',
  agentsWoken: 'agents woken',
  countersCorrected: 'counters corrected',
}

/** What a pass did: "3 tasks moved, 1 agent woken". Steps that found nothing are left out. */
export function recoveredWords(did: Readonly<Record<string, number>>): string {
  const done = Object.entries(did).filter(([, times]) => times > 0)
  if (done.length === 0) return 'There was nothing to recover.'
  const words = done.map(([step, times]) => {
    const many = STEP_WORDS[step] ?? spaced(step)
    return `${times} ${times === 1 ? many.replace(/s\b/, '') : many}`
  })
  return `Done: ${words.join(', ')}.`
}

const spaced = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

const END_WORDS: Record<string, string> = { RESIGNED: 'handed over', EXPIRED: 'its node fell silent' }
export const endWords = (reason: string | null) =>
  reason === null ? 'ended' : (END_WORDS[reason] ?? 'ended')

/** What a node does beside answering requests. */
export function runsWords({ runs, mostRuns }: Pick<Node, 'runs' | 'mostRuns'>): string {
  if (mostRuns === 0 && runs === 0) return 'executes no runs'
  const words = `${countText(runs)} ${runs === 1 ? 'run' : 'runs'}`
  return mostRuns === null ? words : `${words} of at most ${countText(mostRuns)}`
}

/** The share of a core that its process uses. Several cores are more than all of one. */
export const loadWords = (cpu: number) => `${Math.round(cpu * 100)} % of a core`

/** Below this nobody notices. */
const NOTICED_MS = 50
export const lagWords = (lagMs: number) =>
  lagMs < NOTICED_MS ? 'answers at once' : `answers ${countText(Math.round(lagMs))} ms late`
