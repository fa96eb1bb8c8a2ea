import { api } from '../../requests/api.ts'
import { whyOwn } from '../../things/agent/own-agent.ts'
import { type ActedOn, ended, useResume } from '../../things/agent/use-agent-acts.ts'
import { useAct } from '../../things/use-act.ts'

interface Ended {
  slug: string
  reason: string
}

/** Stop and terminate. Each reports its outcome. */
export function useAgentEnds() {
  const resume = useResume()
  const stop = useAct(
    ({ slug, reason }: Ended) =>
      api().post('/agents/:id/pause', {
        params: { id: slug },
        body: { graceful: false, ...(reason !== '' && { reason }) },
      }),
    ({ slug }) => ({
      title: `${slug} is stopped.`,
      text: 'Its tasks return to the queue, and no attempt is spent.',
      act: { words: 'Resume', run: () => resume.run(slug) },
    }),
  )
  const terminate = useAct(
    ({ slug, reason, graceful }: Ended & { graceful: boolean }) =>
      api().post('/agents/:id/terminate', {
        params: { id: slug },
        body: { graceful, ...(reason !== '' && { reason }) },
      }),
    ({ slug, leaving }) =>
      leaving ? `${slug} is terminated after its current tasks.` : `${slug} is terminated.`,
  )
  return {
    stop: ({ slug }: ActedOn, reason: string) => stop.run({ slug, reason }),
    terminate: ({ slug }: ActedOn, reason: string, graceful: boolean) =>
      terminate.run({ slug, reason, graceful }),
    whyNotStop: (agent: ActedOn) =>
      stop.whyNot ?? whyOwn(agent) ?? ended(agent) ?? (agent.leaving ? 'It is being terminated.' : null),
    whyNotTerminate: (agent: ActedOn) => terminate.whyNot ?? whyOwn(agent) ?? ended(agent),
  }
}
