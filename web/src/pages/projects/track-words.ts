import { countText } from '../../parts/wording.ts'
import { shortKey } from '../../requests/act-words.ts'
import type { Track } from './use-projects.ts'

/** What a track says about itself. Pure. */

export interface Counts {
  completed: number
  inProgress: number
  pending: number
  failed: number
}

/** "12 of 20 done, 3 under way, 1 failed". */
export function countsWords({ completed, inProgress, pending, failed }: Counts): string {
  const all = completed + inProgress + pending + failed
  if (all === 0) return 'no tasks yet'
  const parts = [
    `${countText(completed)} of ${countText(all)} done`,
    inProgress > 0 && `${countText(inProgress)} under way`,
    failed > 0 && `${countText(failed)} failed`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** A stacked bar of them, in percent of all. */
export function barOf({ completed, inProgress, pending, failed }: Counts) {
  const all = completed + inProgress + pending + failed
  const percent = (count: number) => (all === 0 ? 0 : (count / all) * 100)
  return {
    percent: percent(completed),
    parts: [
      { hue: 'done', percent: percent(completed) },
      { hue: 'go', percent: percent(inProgress) },
      { hue: 'bad', percent: percent(failed) },
    ] as const,
  }
}

type OnTrack = Pick<Track, 'agents' | 'maxAgents'>

/** "1 of 2 agents", "3 agents, any number may work on it". */
export function agentsWords({ agents, maxAgents }: OnTrack): string {
  const count = agents.length
  if (maxAgents === null)
    return `${count === 0 ? 'no agent' : `${count} ${count === 1 ? 'agent' : 'agents'}`}, any number may`
  return `${count} of ${countText(maxAgents)} ${maxAgents === 1 ? 'agent' : 'agents'}`
}

export const isFull = ({ agents, maxAgents }: OnTrack) => maxAgents !== null && agents.length >= maxAgents

/** "alpha", "alpha and beta", "alpha, beta and 3 more". */
function listed(names: readonly string[]): string {
  if (names.length <= 2) return names.join(' and ')
  return `${names[0]}, ${names[1]} and ${countText(names.length - 2)} more`
}

/** Why nobody gets more work of a full track, and what changes that. Null: it has room, or nothing waits. */
export function whyFull(track: Track): { why: string; next: string } | null {
  const { agents, maxAgents, holding, pending } = track
  if (!isFull(track) || pending === 0) return null
  const works = agents.length === 1 ? 'works' : 'work'
  const on = listed(holding.map(({ key, title }) => (key === null ? `“${title}”` : shortKey(key))))
  const who = `${listed(agents)} ${works} on ${on === '' ? 'it' : on}`
  const waiting = pending === 1 ? 'its waiting task' : `its ${countText(pending)} waiting tasks`
  return {
    why: `This track is full: ${who}, and it takes ${maxAgents === 1 ? 'one agent' : `${countText(maxAgents ?? 0)} agents`} at a time. So ${waiting} ${pending === 1 ? 'goes' : 'go'} to nobody else.`,
    next: `Other agents get its tasks when ${agents.length === 1 ? agents[0] : 'one of them'} holds none of them any more, or when you raise the limit.`,
  }
}
