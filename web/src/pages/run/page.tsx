import { useParams, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useSiblingKeys } from '../../keys/siblings.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { useSession } from '../../requests/session.ts'
import { parseSearch, writeSearch } from '../../search-params.ts'
import { gapsOf, gapsText } from '../../things/changes/work-words.ts'
import { AskStop } from '../../things/run/ask-stop.tsx'
import { shortId } from '../../things/run/run.ts'
import { EndedBadly } from './ended-badly.tsx'
import { type RunAddress, RunBody } from './run-body.tsx'
import { RunFacts, RunHeading, runTitle } from './run-header.tsx'
import { isRunLive, type Run as OneRun, type RunEvent, useRun, useRunEvents } from './use-run.ts'
import { RUN_VIEWS, type RunView } from './views.ts'

const WORDS: Record<RunView, string> = {
  transcript: 'Transcript',
  raw: 'Raw log',
  timeline: 'Timeline',
  details: 'Details',
}

/** What one run does or did: its steps, its log, what happened to it, everything that is known of it. */
export function Run() {
  const { id } = useParams({ from: '/runs/$id' })
  const search = useSearch({ from: '/runs/$id' })
  const { view = search.at === undefined ? 'transcript' : 'raw' } = search
  const go = useGo()
  const router = useRouter()
  // The address as it is by now: what was written into it a moment ago is not drawn yet.
  const show = (next: RunAddress, replace: boolean) =>
    go(`/runs/${id}${writeSearch({ ...parseSearch(router.history.location.search), ...next })}`, { replace })
  const read = useRun(id)
  const { data: run } = read
  const events = useRunEvents(id)
  useSiblingKeys('run', id, (other) => go(`/runs/${other}`))
  const step = RUN_VIEWS.indexOf(view)
  useShortcuts('Run', {
    v: { words: 'Next view', run: () => show({ view: RUN_VIEWS[(step + 1) % RUN_VIEWS.length]! }, false) },
  })
  if (!run)
    return (
      <Page title={`Run ${shortId(id)}`}>
        <Loading read={read} rows={8} />
      </Page>
    )
  const views = (
    <Segmented
      label="View"
      onChange={(next) => show({ view: next }, false)}
      options={RUN_VIEWS.map((value) => ({ value, words: WORDS[value] }))}
      value={view}
    />
  )
  return (
    <Page
      actions={isRunLive(run) && <StopRun run={run} />}
      heading={<RunHeading run={run} />}
      isFull
      text={<RunFacts run={run} />}
      title={runTitle(run)}
    >
      <EndedBadly run={run} />
      {view !== 'details' && <WorkFlag onShow={() => show({ view: 'details' }, false)} run={run} />}
      <Flags events={events.data?.items ?? []} isLive={isRunLive(run)} />
      <RunBody address={{ ...search, view }} events={events} onShow={show} run={run} views={views} />
    </Page>
  )
}

/** What the watchdog noticed, while it still matters. */
function Flags({ events, isLive }: { events: readonly RunEvent[]; isLive: boolean }) {
  const flag = events.findLast(({ type, level }) => type === 'error' && level === 'warn')
  if (!isLive || !flag?.message) return null
  return (
    <p className="mx-6 mb-3 flex items-center gap-2 rounded-card bg-ask-tint px-3 py-1.5 text-row font-medium text-ask max-sm:mx-4">
      <Icon name="warning" />
      {flag.message}
    </p>
  )
}

/** One line above the log when the work of the run is not complete; its details say more. */
function WorkFlag({ run, onShow }: { run: OneRun; onShow: () => void }) {
  const words = run.folder && gapsText(gapsOf(run.folder))
  if (!words) return null
  return (
    <p className="mx-6 mb-3 flex items-center gap-2 rounded-card bg-ask-tint px-3 py-1.5 text-row font-medium text-ask max-sm:mx-4">
      <Icon className="shrink-0" name="warning" />
      <span className="min-w-0 flex-1 wrap-anywhere">{words}</span>
      <button className="touchable shrink-0 underline" onClick={onShow} type="button">
        Details
      </button>
    </p>
  )
}

function StopRun({ run }: { run: OneRun }) {
  const { whyNot } = useSession()
  const [isAsked, setAsked] = useState(false)
  const reason = whyNot('operate')
  useShortcuts('Run', { s: { words: 'Stop the run', run: () => setAsked(true), isOff: reason !== null } })
  return (
    <>
      <Button disabledReason={reason} icon="stop" onClick={() => setAsked(true)} shortcut="s" size="small">
        Stop
      </Button>
      {isAsked && <AskStop onClose={() => setAsked(false)} run={run} />}
    </>
  )
}
