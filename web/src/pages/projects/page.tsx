import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { countText } from '../../parts/wording.ts'
import { useSession } from '../../requests/session.ts'
import { NewProject } from './new-project.tsx'
import { barOf, type Counts, countsWords } from './track-words.ts'
import { type ListedProject, useProjects } from './use-projects.ts'

/** Work in tracks, from a plan that is imported; the oldest first. */
export function Projects() {
  const go = useGo()
  const list = useProjects()
  const { items, loadMore } = list
  const { whyNot } = useSession()
  const [isNew, setNew] = useState(false)
  const refusal = whyNot('operate')
  useShortcuts('Projects', {
    'c p': { words: 'New project', run: () => setNew(true), isOff: refusal !== null },
  })
  const button = (
    <Button
      disabledReason={refusal}
      icon="plus"
      kind="primary"
      onClick={() => setNew(true)}
      shortcut="c p"
      size="small"
    >
      New project
    </Button>
  )
  return (
    <Page actions={items.length === 0 ? undefined : button} isFull title="Projects">
      <Loaded className="px-6" empty={<NoProjects action={button} />} read={list} rows={6}>
        {() => (
          <DataTable
            columns={COLUMNS}
            drops={DROPS}
            keyOf={({ slug }) => slug}
            label="Projects"
            onNearEnd={loadMore}
            onOpen={({ slug }) => go(`/projects/${slug}`)}
            rowHeight={44}
            rows={items}
          />
        )}
      </Loaded>
      {isNew && <NewProject onClose={() => setNew(false)} />}
    </Page>
  )
}

const NoProjects = ({ action }: { action: React.ReactNode }) => (
  <Empty
    action={action}
    drawing="columns"
    text="A project has tracks of tasks, each with a limit of agents. Its tasks come from a plan in YAML or JSON."
    title="No projects yet"
  />
)

const countsOf = ({ completed = 0, inProgress = 0, pending = 0, failed = 0 }: ListedProject): Counts => ({
  ...{ completed, inProgress, pending, failed },
})

const DROPS = ['made', 'tracks', 'bar']

const COLUMNS: Column<ListedProject>[] = [
  {
    name: 'name',
    words: 'Project',
    width: 'minmax(200px, 1.6fr)',
    phone: 'first',
    cell: ({ slug, name }) => (
      <PageLink className="font-medium hover:text-accent hover:underline" to={`/projects/${slug}`}>
        {name}
        {name !== slug && <span className="ml-2 font-normal text-muted">{slug}</span>}
      </PageLink>
    ),
  },
  {
    name: 'bar',
    words: 'Progress',
    width: 'minmax(96px, 1fr)',
    phone: 'hidden',
    cell: (project) => {
      const counts = countsOf(project)
      const { percent, parts } = barOf(counts)
      return (
        <ProgressBar
          label={`Progress of ${project.name}: ${countsWords(counts)}`}
          parts={[...parts]}
          percent={percent}
        />
      )
    },
  },
  {
    name: 'tasks',
    words: 'Tasks',
    width: '256px',
    phone: 'second',
    cell: (project) => <span className="text-muted">{countsWords(countsOf(project))}</span>,
  },
  {
    name: 'tracks',
    words: 'Tracks',
    width: '64px',
    align: 'end',
    phone: 'hidden',
    cell: ({ trackCount = 0 }) => countText(trackCount),
  },
  {
    name: 'made',
    words: 'Created',
    width: '80px',
    align: 'end',
    phone: 'hidden',
    cell: ({ createdAt }) => (
      <span className="text-muted">
        <Moment at={createdAt} />
      </span>
    ),
  },
]
