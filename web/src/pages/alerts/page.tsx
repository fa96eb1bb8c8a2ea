import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ALERT_STATES, type AlertState } from '../../../../src/kinds/alert/record.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { writeSearch } from '../../search-params.ts'
import { AlertRow } from './alert-row.tsx'
import { AskAcknowledge } from './ask-acknowledge.tsx'
import { type Alert, useAlerts } from './use-alerts.ts'

const WORDS: Record<AlertState, string> = { open: 'Open', acknowledged: 'Acknowledged', resolved: 'Over' }

/** What is wrong, and who looks after it. */
export function Alerts() {
  const { state = 'open' } = useSearch({ from: '/alerts' })
  const go = useGo()
  const show = (next: AlertState) =>
    go(`/alerts${writeSearch({ state: next === 'open' ? undefined : next })}`, { replace: true })
  const list = useAlerts(state)
  const [asked, setAsked] = useState<Alert | null>(null)
  useShortcuts('Alerts', {
    v: {
      words: 'Next view',
      run: () => show(ALERT_STATES[(ALERT_STATES.indexOf(state) + 1) % ALERT_STATES.length]!),
    },
  })
  return (
    <Page
      actions={
        <Segmented<AlertState>
          label="State"
          onChange={show}
          options={ALERT_STATES.map((value) => ({ value, words: WORDS[value] }))}
          value={state}
        />
      }
      text="What is wrong, until it is over by itself. Acknowledge an alert to say that you look after it."
      title="Alerts"
    >
      <Loaded empty={<None state={state} />} read={list} rowHeight={72} rows={5}>
        {(read) => (
          <>
            <ul
              aria-label={`Alerts: ${WORDS[state].toLowerCase()}`}
              className="overflow-hidden rounded-card border border-line bg-raised"
            >
              {list.items.map((alert) => (
                <AlertRow alert={alert} key={alert.id} onAcknowledge={() => setAsked(alert)} />
              ))}
            </ul>
            {read.nextCursor !== null && (
              <Button className="mt-3" onClick={list.loadMore}>
                Show older alerts
              </Button>
            )}
          </>
        )}
      </Loaded>
      {asked && <AskAcknowledge alert={asked} onClose={() => setAsked(null)} />}
    </Page>
  )
}

const EMPTY: Record<AlertState, { title: string; text: string }> = {
  open: { title: 'Nothing is wrong', text: 'Alerts that nobody looks after appear here by themselves.' },
  acknowledged: {
    title: 'Nothing is being looked after',
    text: 'Alerts that somebody has acknowledged stay here until they are over.',
  },
  resolved: { title: 'No alert is over yet', text: 'Alerts that are over are kept for ninety days.' },
}

const None = ({ state }: { state: AlertState }) => <Empty drawing="tray" {...EMPTY[state]} />
