import { Markdown } from '../../parts/markdown.tsx'
import { ChangesView } from '../../things/changes/changes-view.tsx'
import { WorkNotes } from '../../things/changes/work-notes.tsx'
import { gapsOf } from '../../things/changes/work-words.ts'
import {
  begunWith,
  type Facts,
  folderFacts,
  logFacts,
  programFacts,
  sessionFacts,
  wakeupFacts,
} from './facts.tsx'
import { ToldToRun } from './told.tsx'
import type { Run, RunEvent } from './use-run.ts'

/** Everything that is known of the run: program, folder, session, node, log, result. */
export function RunDetails({ run, events }: { run: Run; events: readonly RunEvent[] }) {
  const begun = begunWith(events)
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-6 py-4 max-sm:px-4">
      <div className="grid max-w-text grid-cols-[repeat(auto-fill,minmax(22rem,1fr))] gap-4 max-sm:grid-cols-1">
        <Section facts={programFacts(run, begun)} title="Program" />
        <Section facts={wakeupFacts(run)} title="Wakeup" />
        <Section facts={sessionFacts(run)} title="Session and node" />
        <Section facts={logFacts(run)} title="Log" />
        <Section facts={folderFacts(run, begun)} title="Folder" />
      </div>
      <ToldToRun runId={run.id} />
      {run.folder && <WorkNotes className="mt-4 max-w-text" gaps={gapsOf(run.folder)} />}
      {run.folder?.worktree && (
        <section aria-label="Changes" className="mt-6 max-w-text">
          <h2 className="mb-2 text-title font-semibold">Changes</h2>
          <ChangesView
            continues={run.folder.continues}
            hasNotes={false}
            key={run.folder.saved?.commit ?? run.status}
            of={{ runId: run.id }}
          />
        </section>
      )}
      {run.summary && (
        <section className="mt-6 max-w-prose">
          <h2 className="mb-1 text-title font-semibold">Summary</h2>
          <Markdown text={run.summary} />
        </section>
      )}
      {run.result !== null && run.result !== undefined && (
        <section className="mt-6 max-w-text">
          <h2 className="mb-1 text-title font-semibold">Result</h2>
          <pre
            className="focus-inside max-h-120 overflow-y-auto rounded-card border border-line bg-sunken px-3 py-2 font-mono text-row wrap-anywhere whitespace-pre-wrap"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
            tabIndex={0}
          >
            {JSON.stringify(run.result, null, 2)}
          </pre>
        </section>
      )}
    </div>
  )
}

function Section({ title, facts }: { title: string; facts: Facts }) {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== '')
  if (known.length === 0) return null
  return (
    <section className="rounded-card border border-line bg-raised p-4 shadow-card">
      <h2 className="mb-2 text-row font-semibold">{title}</h2>
      <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-x-3 gap-y-1 text-row">
        {known.map(([words, value]) => (
          <div className="contents" key={words}>
            <dt className="text-muted">{words}</dt>
            <dd className="wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
