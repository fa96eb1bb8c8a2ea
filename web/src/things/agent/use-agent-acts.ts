import type { AgentState } from '../../../../src/pure/states.ts'
import { api } from '../../requests/api.ts'
import { useAct } from '../use-act.ts'
import { isOwnAgent, WHY_OWN, whyOwn } from './own-agent.ts'

/** What acts need to know of an agent. */
export interface ActedOn {
  readonly slug: string
  readonly state: AgentState
  readonly adapterType: string
  readonly leaving: boolean
}

const STOPPED: readonly AgentState[] = ['paused', 'error']
export const isStopped = ({ state }: Pick<ActedOn, 'state'>) => STOPPED.includes(state)

/** Its undo is pausing the agent. */
export const useResume = () =>
  useAct(
    (slug: string) => api().post('/agents/:id/resume', { params: { id: slug } }),
    (_, slug) => `${slug} was resumed.`,
  )

/** Wake, pause and resume. Each reports its outcome. */
export function useAgentActs() {
  const wake = useAct(
    (slug: string) => api().post('/agents/:id/wakeup', { params: { id: slug } }),
    ({ wakeup }, slug) => {
      if (wakeup.status === 'skipped')
        return { kind: 'bad', title: `${slug} was not woken.`, text: wakeup.detail ?? undefined }
      if (wakeup.status !== 'coalesced') return `${slug} was woken.`
      const text = 'This wakeup was merged with the one that is pending.'
      return { kind: 'note', title: `${slug} is already being woken.`, text }
    },
    { right: 'work' },
  )
  const resume = useResume()
  const pause = useAct(
    (slug: string) => api().post('/agents/:id/pause', { params: { id: slug } }),
    (_, slug) => ({
      title: `${slug} is paused.`,
      text: 'It finishes its current tasks and gets no new ones.',
      act: { words: 'Resume', run: () => resume.run(slug) },
    }),
  )
  return {
    wake: (agent: ActedOn) => wake.run(agent.slug),
    pauseOrResume: (agent: ActedOn) => (isStopped(agent) ? resume : pause).run(agent.slug),
    whyNotWake: (agent: ActedOn) => wake.whyNot ?? whyNotWoken(agent),
    // Resuming helps, whoever stopped it.
    whyNotPause: (agent: ActedOn) =>
      pause.whyNot ?? ended(agent) ?? (isStopped(agent) ? null : whyOwn(agent)),
    isWaking: (slug: string) => wake.isBusy && wake.asked === slug,
    isPausing: (slug: string) => [pause, resume].some(({ isBusy, asked }) => isBusy && asked === slug),
  }
}

export const ended = ({ state }: ActedOn) => (state === 'terminated' ? 'It is terminated.' : null)

/** Why it cannot be woken, whoever asks. */
export function whyNotWoken(agent: ActedOn): string | null {
  if (isOwnAgent(agent.slug)) return WHY_OWN
  if (agent.adapterType === 'external') return 'External agents fetch their own work.'
  if (isStopped(agent)) return 'Resume it first.'
  return ended(agent)
}
