import { clockText } from '../../parts/wording.ts'
import { isOwnAgent } from '../../things/agent/own-agent.ts'
import { wakingOf } from './own-fields.ts'
import type { AgentRead } from './use-agent.ts'

type Waiting = Pick<
  AgentRead,
  'slug' | 'state' | 'adapterType' | 'leaving' | 'holds' | 'rests' | 'nextWakeAt' | 'runtimeConfig'
>

/** What an agent that does nothing waits for; null: it works, or its state says it. Pure: the present moment is an argument. */
export function waitsFor(agent: Waiting, now: number): string | null {
  const { state, holds, rests, nextWakeAt, adapterType } = agent
  if (state === 'terminated' || state === 'error') return null
  if (state === 'paused') return 'It waits to be resumed.'
  const asked = holds.find((task) => task.state === 'awaiting_human')
  if (asked) return `It waits for a person to answer about ${asked.key ?? asked.title}.`
  if (holds.length > 0 || (rests && Date.parse(rests.until) > now)) return null
  if (state !== 'idle' || isOwnAgent(agent.slug)) return null
  if (adapterType === 'external') return 'It fetches its own work.'
  const { enabled, wakeOnAssignment } = wakingOf(agent.runtimeConfig)
  const timer = nextWakeAt === null ? null : Date.parse(nextWakeAt)
  const at = timer === null ? '' : `its timer at ${clockText(timer, 'minute')}`
  if (!enabled) return 'It waits for nothing: all wakeups are off.'
  if (!wakeOnAssignment) return at ? `It waits for ${at}.` : 'It waits until somebody wakes it.'
  return at ? `It waits for a task, or ${at}.` : 'It waits for a task.'
}
