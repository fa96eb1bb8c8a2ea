import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { copyText } from '../../parts/copyable.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { countText, exactText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import type { ListedEvent } from './event-list.ts'
import { aboutOf, actorWords, LEVEL_WORDS, sentenceOf } from './event-words.ts'

/** The whole event: its sentence, what it is about, and all that was written. */
export function EventPanel(props: { seq: number; listed: ListedEvent | undefined; onClose: () => void }) {
  const { seq, listed, onClose } = props
  const read = useQuery({
    queryKey: ['event', seq],
    queryFn: async ({ signal }) => {
      const query = { after: String(seq - 1), limit: '1', include: 'message' }
      const { items } = await api().get('/events', { query, signal })
      return items.find((event) => event.seq === seq) ?? null
    },
    enabled: listed === undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const event = listed ?? read.data
  return (
    <SidePanel onClose={onClose} title={`Event ${countText(seq)}`}>
      {event ? (
        <Whole event={event} />
      ) : read.data === null ? (
        <p className="text-muted">The log has no event with this number.</p>
      ) : (
        <Loading read={read} rows={6} />
      )}
    </SidePanel>
  )
}

function Whole({ event }: { event: ListedEvent }) {
  const { seq, type, level, at, from, to, generation, taskId, missionId, runId } = event
  const about = aboutOf(event)
  const json = JSON.stringify(event, null, 2)
  const link = (words: string, path: string) => (
    <PageLink className="text-accent hover:underline" to={path}>
      {words}
    </PageLink>
  )
  const facts: [string, ReactNode][] = [
    [
      'When',
      <span key="when">
        {exactText(Date.parse(at))}, <Moment at={at} />
      </span>,
    ],
    ['By', actorWords(event)],
    ['About', about.to === null ? about.words : link(about.words, about.to)],
    ['Mission', missionId !== null && taskId !== null && link('its mission', `/missions/${missionId}`)],
    [
      'Run',
      runId !== null && about.to !== `/runs/${runId}` && link(`run ${runId.slice(-4)}`, `/runs/${runId}`),
    ],
    ['State', to !== null && to !== from && <Move from={from} key="state" to={to} />],
    ['Attempt', generation],
    ['Level', LEVEL_WORDS[level].words],
    [
      'Type',
      <code className="font-mono text-label" key="type">
        {type}
      </code>,
    ],
  ]
  return (
    <div className="flex flex-col gap-4">
      <p className="text-body break-words">{sentenceOf(event)}</p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-row">
        {facts
          .filter(([, value]) => value !== null && value !== false)
          .map(([words, value]) => (
            <div className="contents" key={words}>
              <dt className="text-muted">{words}</dt>
              <dd className="min-w-0 break-words">{value}</dd>
            </div>
          ))}
      </dl>
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="mr-auto text-row font-medium">As it was written</h3>
        {taskId !== null && (
          <PageLink className="text-row text-accent hover:underline" to={`/events?task=${taskId}&at=${seq}`}>
            all of this task
          </PageLink>
        )}
        <Button icon="copy" kind="quiet" onClick={() => void copyText(json)} size="small">
          Copy
        </Button>
      </div>
      <pre className="rounded-card border border-line bg-sunken p-3 font-mono text-label wrap-anywhere whitespace-pre-wrap">
        {json}
      </pre>
    </div>
  )
}

function Move({ from, to }: { from: ListedEvent['from']; to: NonNullable<ListedEvent['to']> }) {
  return (
    <span className="flex flex-wrap items-center gap-1.5">
      {from !== null && (
        <>
          <StateChip state={from} /> <Chip>then</Chip>
        </>
      )}
      <StateChip state={to} />
    </span>
  )
}
