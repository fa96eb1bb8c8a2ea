import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Page } from '../../parts/page.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { writeSearch } from '../../search-params.ts'
import { SessionPanel } from '../../things/session/session-panel.tsx'
import { SessionsTable } from '../../things/session/sessions-table.tsx'
import { DeadLetters } from './dead-letters.tsx'
import { RequeueStalled } from './requeue-stalled.tsx'
import { WORKER_TABS, type WorkerTab } from './tabs.ts'
import { WorkersTable } from './workers-table.tsx'

const WORDS: Record<WorkerTab, string> = {
  workers: 'Workers',
  sessions: 'Sessions',
  'dead-letters': 'Dead letters',
}

/** Who holds tasks, and the tasks that have run out of attempts. */
export function Workers() {
  const { tab = 'workers', session } = useSearch({ from: '/workers' })
  const go = useGo()
  const at = (place: { tab: WorkerTab; session?: string | undefined }) =>
    `/workers${writeSearch({ tab: place.tab === 'workers' ? undefined : place.tab, session: place.session })}`
  const show = (next: WorkerTab) => go(at({ tab: next }), { replace: true })
  const openSession = (name: string | undefined) => go(at({ tab, session: name }))
  useShortcuts('Workers', {
    Esc: { words: 'Close the panel', run: () => openSession(undefined), isOff: !session },
    v: {
      words: 'Next view',
      run: () => show(WORKER_TABS[(WORKER_TABS.indexOf(tab) + 1) % WORKER_TABS.length]!),
    },
  })
  const shown: Record<WorkerTab, () => ReactNode> = {
    workers: () => <WorkersTable onOpen={openSession} selected={session} />,
    sessions: () => <SessionsTable onOpen={openSession} selected={session} />,
    'dead-letters': () => <DeadLetters />,
  }
  return (
    <Page
      actions={<RequeueStalled />}
      isFull
      panel={
        session && <SessionPanel key={session} onClose={() => openSession(undefined)} session={session} />
      }
      title="Workers"
    >
      <Tabs
        className="flex min-h-0 flex-1 flex-col [&>[role=tablist]]:px-3 [&>[role=tablist]]:max-sm:px-1 [&>[role=tabpanel]]:flex [&>[role=tabpanel]]:min-h-0 [&>[role=tabpanel]]:flex-1 [&>[role=tabpanel]]:flex-col"
        label="Views"
        onChange={show}
        tabs={WORKER_TABS.map((name) => ({ name, words: WORDS[name] }))}
        value={tab}
      >
        {shown[tab]()}
      </Tabs>
    </Page>
  )
}
