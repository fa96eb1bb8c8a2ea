import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Checks } from './checks.tsx'
import type { useTest } from './use-adapters.ts'
import { useAgentActs } from './use-agent-acts.ts'

export interface Made {
  slug: string
  adapterType: string
}

/** An agent that was just created: what its test found, and what to do with it now. */
export function MadeAgent({ agent, test }: { agent: Made; test: ReturnType<typeof useTest> }) {
  const { slug, adapterType } = agent
  const go = useGo()
  const acts = useAgentActs()
  const { data: probe, error } = test
  const runTest = () => test.mutate({ type: adapterType, agent: slug })
  const wake = () => {
    acts.wake({ slug, adapterType, state: 'idle', leaving: false })
    go(`/agents/${slug}`)
  }
  return (
    <section
      aria-label={`${slug}, just made`}
      className="flex flex-col gap-3 rounded-card border border-line bg-bg px-4 py-3"
    >
      <p aria-live="polite" className="flex items-center gap-2 text-body font-medium">
        {probe && (
          <Icon className={probe.ok ? 'text-done' : 'text-ask'} name={probe.ok ? 'check' : 'warning'} />
        )}
        {headline(slug, probe?.ok ?? null, error !== null)}
      </p>
      {probe && <Checks probe={probe} />}
      {error !== null && <ProblemBox error={error} />}
      <div className="flex flex-wrap gap-2">
        {probe?.ok && (
          <Button icon="play" kind="primary" onClick={wake} size="small">
            Wake {slug}
          </Button>
        )}
        {(probe || error) && !probe?.ok && (
          <Button busy={test.isPending} icon="retry" kind="primary" onClick={runTest} size="small">
            Test again
          </Button>
        )}
        <Button onClick={() => go(`/agents/${slug}?tab=settings`)} size="small">
          Open its settings
        </Button>
      </div>
    </section>
  )
}

function headline(slug: string, isOk: boolean | null, isUntested: boolean): string {
  if (isOk) return `${slug} is ready.`
  if (isOk === false) return `${slug} was made, but cannot run yet.`
  return isUntested ? `${slug} was made. The test could not be run.` : `${slug} was made. Testing it …`
}
