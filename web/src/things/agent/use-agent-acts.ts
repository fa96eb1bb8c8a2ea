import { useMutation } from '@tanstack/react-query'
import type { AgentState } from '../../../../src/core/states.ts'
import { showRefusal } from '../../parts/show-refusal.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { isOwnAgent, WHY_OWN, whyOwn } from './own-agent.ts'

/** What acts need to know of an agent. */
export interface ActedOn {
  readonly slug: string
  readonly state: AgentState
  readonly adapterType: string
  readonly leaving: boolean
}

const pause = (slug: string) => api().post('/agents/:id/pause', { params: { id: slug } })
export const resume = (slug: string) => api().post('/agents/:id/resume', { params: { id: slug } })

const STOPPED: readonly AgentState[] = ['paused', 'error']
export const isStopped = ({ state }: Pick<ActedOn, 'state'>) => STOPPED.includes(state)

/** Wake, pause and resume. Each reports its outcome. */
export function useAgentActs() {
  const { whyNot } = useSession()
  const wake = useMutation({
    mutationFn: (slug: string) => api().post('/agents/:id/wakeup', { params: { id: slug } }),
    onSuccess: ({ wakeup }, slug) => {
      if (wakeup.status === 'skipped')
        toast({ kind: 'bad', title: `${slug} was not woken.`, text: wakeup.detail ?? undefined })
      else if (wakeup.status === 'coalesced')
        toast({
          title: `${slug} is being woken already.`,
          text: 'This wakeup was merged with the one that is pending.',
        })
      else toast({ kind: 'done', title: `${slug} was woken.` })
    },
    onError: showRefusal,
  })
  const undoPause = useMutation({
    mutationFn: resume,
    onSuccess: (_, slug) => toast({ kind: 'done', title: `${slug} was resumed.` }),
    onError: showRefusal,
  })
  const doPause = useMutation({
    mutationFn: pause,
    onSuccess: (_, slug) =>
      toast({
        kind: 'done',
        title: `${slug} is paused.`,
        text: 'It finishes its current tasks and gets no new ones.',
        act: { words: 'Resume', run: () => undoPause.mutate(slug) },
      }),
    onError: showRefusal,
  })
  const cannotOperate = whyNot('operate')
  return {
    wake: (agent: ActedOn) => wake.mutate(agent.slug),
    pauseOrResume: (agent: ActedOn) =>
      isStopped(agent) ? undoPause.mutate(agent.slug) : doPause.mutate(agent.slug),
    whyNotWake: (agent: ActedOn) => whyNot('work') ?? unwakeable(agent),
    // Resuming helps, whoever stopped it.
    whyNotPause: (agent: ActedOn) =>
      cannotOperate ?? ended(agent) ?? (isStopped(agent) ? null : whyOwn(agent)),
    isWaking: (slug: string) => wake.isPending && wake.variables === slug,
    isPausing: (slug: string) =>
      (doPause.isPending && doPause.variables === slug) ||
      (undoPause.isPending && undoPause.variables === slug),
  }
}

export const ended = ({ state }: ActedOn) => (state === 'terminated' ? 'It is terminated.' : null)

function unwakeable(agent: ActedOn): string | null {
  if (isOwnAgent(agent.slug)) return WHY_OWN
  if (agent.adapterType === 'external') return 'External agents fetch their own work.'
  if (isStopped(agent)) return 'Resume it first.'
  return ended(agent)
}
