import { useSearch } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { AGENT_STATES, type AgentState } from '../../../../src/pure/states.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { Select } from '../../parts/select.tsx'
import type { VirtualListHandle } from '../../parts/virtual-list.tsx'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { useAgentActs } from '../../things/agent/use-agent-acts.ts'
import { agentColumns, DROPS } from './columns.tsx'
import { NoAgents } from './no-agents.tsx'
import { type ListedAgent, useAgents } from './use-agents.ts'

/** The agents of the workspace: who works on what, who stopped and why. */
export function Agents() {
  const { state } = useSearch({ from: '/agents' })
  const go = useGo()
  const list = useAgents(state)
  const { agents, loadMore } = list
  const acts = useAgentActs()
  const columns = agentColumns(acts)
  const table = useRef<VirtualListHandle>(null)
  const [selected, setSelected] = useState<string | null>(null)
  useAgentKeys({ agents, selected, select: setSelected, table, acts })
  return (
    <Page
      actions={<NewAgentButton />}
      filters={
        <Select
          aria-label="State"
          onChange={(next) => go(`/agents${writeSearch({ state: next === '' ? undefined : next })}`)}
          options={STATE_OPTIONS}
          size="small"
          value={state ?? ''}
        />
      }
      isFull
      title="Agents"
    >
      <Loaded
        className="px-6"
        empty={<NoAgents isFiltered={state !== undefined} />}
        read={list}
        rowHeight={44}
        rows={10}
      >
        {() => (
          <DataTable
            columns={columns}
            drops={DROPS}
            keyOf={({ slug }) => slug}
            label="Agents"
            onNearEnd={loadMore}
            onOpen={({ slug }) => go(`/agents/${slug}`)}
            ref={table}
            touchRowHeight={92}
            rowHeight={44}
            rows={agents}
            selected={selected}
          />
        )}
      </Loaded>
    </Page>
  )
}

const STATE_OPTIONS: { value: AgentState | ''; words: string }[] = [
  { value: '', words: 'Any state' },
  ...AGENT_STATES.map((state) => ({ value: state, words: STATE_LOOKS[state].word })),
]

function useAgentKeys(given: {
  agents: readonly ListedAgent[]
  selected: string | null
  select: (slug: string | null) => void
  table: React.RefObject<VirtualListHandle | null>
  acts: ReturnType<typeof useAgentActs>
}): void {
  const { agents, selected, select, table, acts } = given
  const go = useGo()
  const place = useMemo(() => agents.findIndex(({ slug }) => slug === selected), [agents, selected])
  const agent = agents[place]
  const move = (by: number) => {
    const to = Math.min(Math.max(place + by, 0), agents.length - 1)
    select(agents[to]?.slug ?? null)
    table.current?.scrollToIndex(to)
  }
  useShortcuts('Agents', {
    j: { words: 'Next agent', run: () => move(1), repeats: true },
    k: { words: 'Previous agent', run: () => move(-1), repeats: true },
    Enter: { words: 'Open the agent', run: () => agent && go(`/agents/${agent.slug}`), isOff: !agent },
    w: {
      words: 'Wake the agent',
      run: () => agent && acts.wake(agent),
      isOff: !agent || acts.whyNotWake(agent) !== null,
    },
    p: {
      words: 'Pause or resume the agent',
      run: () => agent && acts.pauseOrResume(agent),
      isOff: !agent || acts.whyNotPause(agent) !== null,
    },
    'c a': { words: 'New agent', run: () => go('/agents/new') },
  })
}

function NewAgentButton() {
  const go = useGo()
  const { whyNot } = useSession()
  return (
    <Button
      disabledReason={whyNot('configure_agents')}
      icon="plus"
      kind="primary"
      onClick={() => go('/agents/new')}
      size="small"
    >
      New agent
    </Button>
  )
}
