import { useMutation } from '@tanstack/react-query'
import { showRefusal } from '../../parts/show-refusal.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { whyOwn } from '../../things/agent/own-agent.ts'
import { type ActedOn, ended, resume } from '../../things/agent/use-agent-acts.ts'

interface Ended {
  slug: string
  reason: string
}

/** Stop and terminate. Each reports its outcome. */
export function useAgentEnds() {
  const { whyNot } = useSession()
  const undo = useMutation({
    mutationFn: resume,
    onSuccess: (_, slug) => toast({ kind: 'done', title: `${slug} was resumed.` }),
    onError: showRefusal,
  })
  const stop = useMutation({
    mutationFn: ({ slug, reason }: Ended) =>
      api().post('/agents/:id/pause', {
        params: { id: slug },
        body: { graceful: false, ...(reason !== '' && { reason }) },
      }),
    onSuccess: ({ slug }) =>
      toast({
        kind: 'done',
        title: `${slug} is stopped.`,
        text: 'Its tasks return to the queue, and no attempt is spent.',
        act: { words: 'Resume', run: () => undo.mutate(slug) },
      }),
    onError: showRefusal,
  })
  const terminate = useMutation({
    mutationFn: ({ slug, reason, graceful }: Ended & { graceful: boolean }) =>
      api().post('/agents/:id/terminate', {
        params: { id: slug },
        body: { graceful, ...(reason !== '' && { reason }) },
      }),
    onSuccess: (agent) =>
      toast({
        kind: 'done',
        title: agent.leaving
          ? `${agent.slug} is terminated after its current tasks.`
          : `${agent.slug} is terminated.`,
      }),
    onError: showRefusal,
  })
  const cannotOperate = whyNot('operate')
  return {
    stop: ({ slug }: ActedOn, reason: string) => stop.mutate({ slug, reason }),
    terminate: ({ slug }: ActedOn, reason: string, graceful: boolean) =>
      terminate.mutate({ slug, reason, graceful }),
    whyNotStop: (agent: ActedOn) =>
      cannotOperate ?? whyOwn(agent) ?? ended(agent) ?? (agent.leaving ? 'It is being terminated.' : null),
    whyNotTerminate: (agent: ActedOn) => cannotOperate ?? whyOwn(agent) ?? ended(agent),
  }
}
