import { useQuery } from '@tanstack/react-query'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { Programs } from '../../things/agent/programs.tsx'

/** A workspace without agents: the programs of this machine, each one click away from becoming one. */
export function NoAgents({ isFiltered }: { isFiltered: boolean }) {
  const go = useGo()
  const { can } = useSession()
  if (isFiltered)
    return (
      <Empty
        action={<Button onClick={() => go('/agents')}>Show all agents</Button>}
        drawing="search"
        text="No agent is in this state."
        title="Nothing found"
      />
    )
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <Empty
        drawing="handover"
        text="An agent is a program that works on tasks: claude, codex, a script or a service of yours."
        title="No agents yet"
      />
      {can('configure_agents') && <Detected />}
    </div>
  )
}

function Detected() {
  const { data, isFetching, refetch } = useQuery({
    queryKey: ['agent-programs'],
    queryFn: ({ signal }) => api().get('/onboarding', { signal }),
    gcTime: 0,
  })
  if (!data) return null
  return (
    <section
      aria-label="Programs on this machine"
      className="mx-auto flex max-w-220 flex-col gap-3 px-6 pb-8 max-sm:px-4"
    >
      <h2 className="text-row font-medium">Programs on this machine</h2>
      <Programs clis={data.clis} isLooking={isFetching} onLookAgain={() => void refetch()} />
    </section>
  )
}
