import type { ReactNode } from 'react'
import { PageLink } from '../../links.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { bytesText, countText, durationText } from '../../parts/wording.ts'
import type { Run, RunEvent } from './use-run.ts'

type Facts = [words: string, value: ReactNode][]

/** Everything that is known of the run: program, folder, session, node, log. */
export function RunDetails({ run, events }: { run: Run; events: readonly RunEvent[] }) {
  const begun = payloadOf(events, 'running')
  const folder = (run.folder ?? {}) as Record<string, unknown>
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-6 py-4 max-sm:px-4">
      <div className="grid max-w-text grid-cols-[repeat(auto-fill,minmax(22rem,1fr))] gap-4 max-sm:grid-cols-1">
        <Section
          facts={[
            ['Adapter', run.adapterType],
            ['Model', run.model],
            ['Provider', run.provider],
            ['Process', run.pid],
            ['Exit code', run.exitCode],
            ['Signal', run.signal],
            [
              'Time limit',
              typeof begun.timeoutSec === 'number' ? durationText(begun.timeoutSec * 1_000) : null,
            ],
          ]}
          title="Program"
        />
        <Section
          facts={[
            ['Why', run.reason ?? run.source],
            ['Source', [run.source, run.triggerDetail].filter(Boolean).join(', ')],
            ['Queued', <Moment at={run.createdAt} key="queued" />],
            ['Started', run.startedAt && <Moment at={run.startedAt} key="started" />],
            ['Ended', run.finishedAt && <Moment at={run.finishedAt} key="ended" />],
            ['Took', run.durationMs === null ? null : durationText(run.durationMs)],
          ]}
          title="Wakeup"
        />
        <Section
          facts={[
            ['Folder', typeof begun.cwd === 'string' ? <Copyable key="cwd" text={begun.cwd} /> : null],
            ['Branch', text(folder.branch) && <Copyable key="branch" text={text(folder.branch)!} />],
            [
              'Commit',
              text(folder.commit) && (
                <Copyable
                  key="commit"
                  shown={text(folder.commit)!.slice(0, 12)}
                  text={text(folder.commit)!}
                />
              ),
            ],
            ['Base', text(folder.baseCommit)?.slice(0, 12)],
            ['Changes', changesIn(folder)],
          ]}
          title="Folder"
        />
        <Section
          facts={[
            ['Session before', run.sessionIdBefore && <Copyable key="before" text={run.sessionIdBefore} />],
            ['Session after', run.sessionIdAfter && <Copyable key="after" text={run.sessionIdAfter} />],
            ['Node', <Copyable key="node" text={run.nodeId} />],
            ['Run', <Copyable key="id" text={run.id} />],
            [
              'Agent',
              <PageLink className="text-accent hover:underline" key="agent" to={`/agents/${run.agent}`}>
                {run.agent}
              </PageLink>,
            ],
          ]}
          title="Session and node"
        />
        <Section facts={logFacts(run)} title="Log" />
      </div>
      {run.summary && (
        <section className="mt-6 max-w-prose">
          <h2 className="mb-1 text-title font-semibold">Summary</h2>
          <Markdown text={run.summary} />
        </section>
      )}
      {run.result !== null && run.result !== undefined && (
        <section className="mt-6">
          <h2 className="mb-1 text-title font-semibold">Result</h2>
          <pre className="max-h-120 overflow-auto rounded-card border border-line bg-sunken px-3 py-2 font-mono text-row">
            {JSON.stringify(run.result, null, 2)}
          </pre>
        </section>
      )}
    </div>
  )
}

const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)

/** What the program was started with is told by the first event of the run. */
const payloadOf = (events: readonly RunEvent[], message: string) =>
  (events.find((event) => event.type === 'lifecycle' && event.message === message)?.payload ?? {}) as Record<
    string,
    unknown
  >

function changesIn({ committed }: Record<string, unknown>): string | null {
  if (typeof committed !== 'object' || committed === null) return null
  const { commits, filesChanged, insertions, deletions } = committed as Record<string, number>
  return `${countText(commits ?? 0)} commits, ${countText(filesChanged ?? 0)} files, +${countText(insertions ?? 0)} −${countText(deletions ?? 0)}`
}

function logFacts({ log }: Run): Facts {
  if (!log) return [['Log', 'none: the run never started']]
  return [
    ['Kept in', log.store],
    ['Size', log.bytes === null ? null : bytesText(log.bytes)],
    [
      'State',
      log.status === 'writing'
        ? 'is being written'
        : log.status === 'available'
          ? 'complete'
          : 'not available',
    ],
    ['Cut', log.truncated ? 'The rest was not stored' : null],
    [
      'SHA-256',
      log.sha256 && <Copyable key="sha256" shown={`${log.sha256.slice(0, 16)}…`} text={log.sha256} />,
    ],
  ]
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
