import { useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { PageLink, useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Menu } from '../../parts/menu.tsx'
import { Page } from '../../parts/page.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import { BudgetsOf } from '../../things/budget/budgets-of.tsx'
import { SessionPanel } from '../../things/session/session-panel.tsx'
import { SessionsTable } from '../../things/session/sessions-table.tsx'
import { useAct } from '../../things/use-act.ts'
import { ImportPlan } from './import-plan.tsx'
import { countsWords } from './track-words.ts'
import { Tracks } from './tracks.tsx'
import { type Project as ProjectRead, useProject } from './use-projects.ts'

/** Its tracks with their progress and limits, and the sessions that work on it. */
export function Project() {
  const { slug } = useParams({ from: '/projects/$slug' })
  const { session } = useSearch({ from: '/projects/$slug' })
  const go = useGo()
  const read = useProject(slug)
  const { data: project } = read
  const [isImporting, setImporting] = useState(false)
  const { whyNot } = useSession()
  const refusal = whyNot('operate')
  const openSession = (name: string | undefined) => go(`/projects/${slug}${writeSearch({ session: name })}`)
  useShortcuts('Project', {
    Esc: { words: 'Close the panel', run: () => openSession(undefined), isOff: !session },
    i: { words: 'Import a plan', run: () => setImporting(true), isOff: refusal !== null || !project },
    b: { words: 'Show its tasks on the board', run: () => go(`/board${writeSearch({ project: slug })}`) },
  })
  if (!project)
    return (
      <Page title="Project">
        <Loading read={read} rowHeight={72} rows={4} />
      </Page>
    )
  return (
    <Page
      actions={
        <>
          <PageLink
            className="touchable inline-flex h-7 items-center rounded-card border border-edge bg-raised px-2 text-row font-medium hover:bg-hover"
            to={`/board${writeSearch({ project: slug })}`}
          >
            Board
          </PageLink>
          <Button
            disabledReason={refusal}
            icon="arrow-up"
            kind="primary"
            onClick={() => setImporting(true)}
            shortcut="i"
            size="small"
          >
            Import a plan
          </Button>
          <More project={project} />
        </>
      }
      panel={
        session && <SessionPanel key={session} onClose={() => openSession(undefined)} session={session} />
      }
      text={<Facts project={project} />}
      title={project.name}
    >
      <div className="flex flex-col gap-8">
        <Tracks onImport={() => setImporting(true)} project={project} whyNotImport={refusal} />
        <section aria-labelledby="budget-of-project" className="flex flex-col gap-2">
          <h2 className="text-title font-semibold" id="budget-of-project">
            Budget
          </h2>
          <BudgetsOf scope="project" scopeId={slug} />
        </section>
        <section aria-labelledby="sessions-of-project" className="flex flex-col gap-2">
          <h2 className="text-title font-semibold" id="sessions-of-project">
            Sessions
          </h2>
          <div className="-mx-6 flex h-80 flex-col max-sm:-mx-4">
            <SessionsTable onOpen={openSession} filter={{ project: slug }} selected={session} />
          </div>
        </section>
      </div>
      {isImporting && <ImportPlan onClose={() => setImporting(false)} project={project} />}
    </Page>
  )
}

function Facts({ project: { slug, name, tracks } }: { project: ProjectRead }) {
  const sum = (of: (track: ProjectRead['tracks'][number]) => number) =>
    tracks.reduce((total, track) => total + of(track), 0)
  const counts = {
    completed: sum(({ completed }) => completed),
    inProgress: sum(({ inProgress }) => inProgress),
    pending: sum(({ pending }) => pending),
    failed: sum(({ failed }) => failed),
  }
  return (
    <p className="break-words">
      {name !== slug && `${slug} · `}
      {tracks.length === 1 ? 'one track' : `${tracks.length} tracks`}, {countsWords(counts)}
    </p>
  )
}

function More({ project: { slug } }: { project: ProjectRead }) {
  const download = useAct(
    async () => {
      const plan = await api().get('/projects/:slug/plan', { params: { slug }, query: { format: 'yaml' } })
      saveFile(
        `${slug}.yaml`,
        [typeof plan === 'string' ? plan : JSON.stringify(plan, null, 2)],
        'application/yaml',
      )
    },
    () => undefined,
    { right: 'read' },
  )
  return (
    <Menu
      groups={[[{ words: 'Download the plan', icon: 'download', run: () => download.run() }]]}
      trigger={<IconButton icon="more" label="More actions" size="small" />}
    />
  )
}
