import { useParams, useSearch } from '@tanstack/react-router'
import { lazy, type ReactNode, Suspense } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useClock } from '../../parts/clock.ts'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { type Tab, Tabs } from '../../parts/tabs.tsx'
import { TextWithCommands } from '../../parts/text-with-commands.tsx'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import { adapterName } from '../../things/agent/adapter-words.ts'
import { isOwnAgent, WHY_OWN } from '../../things/agent/own-agent.ts'
import { reasonText } from '../../things/agent/reason-text.ts'
import { Resting } from '../../things/agent/resting.tsx'
import { runsAsText } from '../../things/agent/runs-as.tsx'
import { failedTest } from '../../things/agent/test-outcome.ts'
import { useAdapters } from '../../things/agent/use-adapters.ts'
import { BudgetsOf } from '../../things/budget/budgets-of.tsx'
import { AgentActs } from './agent-acts.tsx'
import { wakingOf } from './own-fields.ts'
import { RunsOfAgent } from './runs-of-agent.tsx'
import { SessionsOfAgent } from './sessions-of-agent.tsx'
import { everyWords } from './spans.ts'
import type { AgentTab } from './tabs.ts'
import { type AgentRead, useAgent } from './use-agent.ts'
import { waitsFor } from './waits-for.ts'
import { WakeupsOfAgent } from './wakeups-of-agent.tsx'

const AgentSettings = lazy(() =>
  import('./agent-settings.tsx').then(({ AgentSettings }) => ({ default: AgentSettings })),
)
const AgentPrompt = lazy(() =>
  import('./agent-prompt.tsx').then(({ AgentPrompt }) => ({ default: AgentPrompt })),
)

const TABS: Tab<AgentTab>[] = [
  { name: 'runs', words: 'Runs' },
  { name: 'budget', words: 'Budget' },
  { name: 'settings', words: 'Settings' },
  { name: 'prompt', words: 'Prompt' },
  { name: 'sessions', words: 'Sessions' },
  { name: 'wakeups', words: 'Wakeups' },
]

/** One agent: what it did, how it is set up, its prompt. */
export function Agent() {
  const { slug } = useParams({ from: '/agents/$slug' })
  const { tab = 'runs' } = useSearch({ from: '/agents/$slug' })
  const go = useGo()
  const read = useAgent(slug)
  const { data: agent } = read
  const show = (next: AgentTab) =>
    go(`/agents/${slug}${writeSearch({ tab: next === 'runs' ? undefined : next })}`)
  useShortcuts('Agent', {
    v: {
      words: 'Next view',
      run: () => show(TABS[(TABS.findIndex(({ name }) => name === tab) + 1) % TABS.length]!.name),
    },
  })
  return (
    <Page
      actions={agent && <AgentActs agent={agent} />}
      heading={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <AgentChip size={26} slug={slug} />
          {agent && <StateChip state={agent.state}>{agent.leaving ? 'Leaving' : undefined}</StateChip>}
          {agent && failedTest(agent) !== null && <Chip hue="ask">Test failed</Chip>}
        </span>
      }
      isFull
      text={agent && <About agent={agent} />}
      title={slug}
    >
      {!agent ? (
        <Loading className="px-6 max-sm:px-4" read={read} rows={8} />
      ) : (
        <Tabs
          className="flex min-h-0 flex-1 flex-col [&>[role=tablist]]:px-3 [&>[role=tablist]]:max-sm:px-1 [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col"
          label="Parts of the agent"
          onChange={show}
          tabs={TABS}
          value={tab}
        >
          <Suspense fallback={<Skeleton rows={8} />}>{shown(tab, agent)}</Suspense>
        </Tabs>
      )}
    </Page>
  )
}

function shown(tab: AgentTab, agent: AgentRead): ReactNode {
  const { slug } = agent
  if (tab === 'runs') return <RunsOfAgent agent={agent} />
  if (tab === 'sessions') return <SessionsOfAgent slug={slug} />
  if (tab === 'budget') return <BudgetOfAgent slug={slug} />
  if (tab === 'wakeups') return <WakeupsOfAgent slug={slug} />
  if (isOwnAgent(slug)) return <p className="p-6 text-row text-muted max-sm:p-4">{WHY_OWN}</p>
  if (tab === 'prompt') return <AgentPrompt agent={agent} key={slug} />
  return <AgentSettings agent={agent} key={slug} />
}

const BudgetOfAgent = ({ slug }: { slug: string }) => (
  <div className="flex flex-col gap-3 px-6 py-5 max-sm:px-4">
    <BudgetsOf scope="agent" scopeId={slug} />
    <PageLink className="touchable self-start text-row text-accent hover:underline" to="/budgets?by=agent">
      What agents have used
    </PageLink>
  </div>
)

function About({ agent }: { agent: AgentRead }) {
  const { name, slug, adapterType, model, stateReason, activeTasks, maxConcurrentTasks } = agent
  const now = useClock(15_000)
  const waits = waitsFor(agent, now)
  const facts = [
    name !== slug && name,
    adapterName(adapterType),
    model,
    maxConcurrentTasks === null
      ? `${activeTasks} ${activeTasks === 1 ? 'task' : 'tasks'}, any number at once`
      : `${activeTasks} of ${maxConcurrentTasks} tasks`,
    ...takenText(agent),
  ]
  return (
    <>
      <p className="break-words">{facts.filter(Boolean).join(' · ')}</p>
      {waits && <p>{waits}</p>}
      <TestFailedLine agent={agent} />
      <RunsAsLine agent={agent} />
      {agent.rests && <Resting rests={agent.rests} />}
      {stateReason && agent.state !== 'idle' && agent.state !== 'running' && (
        <p className={agent.state === 'error' ? 'text-bad' : ''}>
          <TextWithCommands text={reasonText(stateReason)} />
        </p>
      )}
    </>
  )
}

function takenText({ capabilities, taskTypes, runtimeConfig }: AgentRead): (string | false)[] {
  const { intervalSec, enabled } = wakingOf(runtimeConfig)
  return [
    capabilities.length > 0 && `can do ${capabilities.join(', ')}`,
    taskTypes.length > 0 && `takes only ${taskTypes.join(', ')}`,
    enabled && intervalSec !== null && `runs ${everyWords(intervalSec)}`,
  ]
}

function TestFailedLine({ agent }: { agent: AgentRead }) {
  const failed = failedTest(agent)
  if (failed === null) return null
  return (
    <p className="text-ask">
      It failed its test: {failed}. It cannot work until that is fixed.{' '}
      <PageLink className="font-medium text-accent hover:underline" to={`/agents/${agent.slug}?tab=settings`}>
        Open its settings
      </PageLink>
    </p>
  )
}

/** Only for those who could change it; the settings say what to do about it. */
function RunsAsLine({ agent: { slug, adapterType } }: { agent: AgentRead }) {
  const { can } = useSession()
  const { data } = useAdapters({ isWanted: can('configure_agents') })
  const runsAs = data?.items.find(({ type }) => type === adapterType)?.runsAs
  if (!runsAs) return null
  return (
    <p className={runsAs === 'root' ? 'text-bad' : ''}>
      {runsAsText(runsAs)}{' '}
      <PageLink className="font-medium text-accent hover:underline" to={`/agents/${slug}?tab=settings`}>
        What to do
      </PageLink>
    </p>
  )
}
