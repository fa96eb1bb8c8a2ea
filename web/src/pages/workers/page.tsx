import { useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { SESSION_STATES, type SessionState } from '../../../../src/pure/states.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Page } from '../../parts/page.tsx'
import { Select } from '../../parts/select.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { writeSearch } from '../../search-params.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
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

const STATES: { value: SessionState | ''; words: string }[] = [
  { value: '', words: 'Any state' },
  ...SESSION_STATES.map((state) => ({ value: state, words: STATE_LOOKS[state].word })),
]

/** Who holds tasks, and the tasks that have run out of attempts. */
export function Workers() {
  const { tab = 'workers', session, state } = useSearch({ from: '/workers' })
  const go = useGo()
  const at = (place: { tab: WorkerTab; state?: SessionState | undefined; session?: string | undefined }) =>
    `/workers${writeSearch({ ...place, tab: place.tab === 'workers' ? undefined : place.tab })}`
  const show = (next: WorkerTab) => go(at({ tab: next }), { replace: true })
  const openSession = (name: string | undefined) => go(at({ tab, state, session: name }))
  useShortcuts('Workers', {
    Esc: { words: 'Close the panel', run: () => openSession(undefined), isOff: !session },
    v: {
      words: 'Next view',
      run: () => show(WORKER_TABS[(WORKER_TABS.indexOf(tab) + 1) % WORKER_TABS.length]!),
    },
  })
  const shown: Record<WorkerTab, () => ReactNode> = {
    workers: () => <WorkersTable onOpen={openSession} selected={session} />,
    sessions: () => <SessionsTable filter={{ state }} onOpen={openSession} selected={session} />,
    'dead-letters': () => <DeadLetters />,
  }
  return (
    <Page
      actions={<RequeueStalled />}
      filters={
        tab === 'sessions' && (
          <Select
            aria-label="State"
            onChange={(next) => go(at({ tab, state: next === '' ? undefined : next }))}
            options={STATES}
            size="small"
            value={state ?? ''}
          />
        )
      }
      hasOneLineHead
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
