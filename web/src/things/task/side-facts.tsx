import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { parseTaskKey } from '../../../../src/kinds/task/rules/task-keys.ts'
import { idCarriedBy } from '../../../../src/pure/ids.ts'
import { PageLink } from '../../links.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Countdown } from '../../parts/countdown.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { durationText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { Neighbours } from './neighbours.tsx'
import type { ShownTask, Task } from './use-task.ts'
import { ValueText } from './value-text.tsx'

/** What is shown beside the tabs: progress, cost, neighbours, what it was given. */
export function SideFacts({ task, now }: { task: Task; now: ShownTask }) {
  return (
    <div className="flex flex-col gap-5">
      <Progress now={now} task={task} />
      <Facts now={now} task={task} />
      <Neighbours task={task} />
      <div className="flex flex-col">
        <Folded words="Prompt">{task.systemPrompt}</Folded>
        <Folded words="Success criteria">{task.successCriteria}</Folded>
        <Folded words="Input">{task.input}</Folded>
        <Folded words="Checkpoint">{task.checkpointData}</Folded>
        <Folded words="Metadata">{task.metadata}</Folded>
        <Folded words="Said by its holder">{task.holder?.metadata}</Folded>
      </div>
    </div>
  )
}

function Progress({ task, now }: { task: Task; now: ShownTask }) {
  if (now.holder === null || (now.percent === null && now.step === null)) return null
  const doneBy = task.progress?.estimatedCompletionAt ?? null
  return (
    <section aria-label="Progress" className="flex flex-col gap-1.5">
      <div className="flex items-baseline gap-2 text-row">
        <span className="font-medium tabular-nums">
          {now.percent === null ? 'Progress' : `${Math.round(now.percent)} %`}
        </span>
        <span className="min-w-0 truncate text-muted" title={now.step ?? ''}>
          {now.step}
        </span>
      </div>
      {now.percent !== null && (
        <ProgressBar hue={now.state === 'completed' ? 'done' : 'go'} label="Progress" percent={now.percent} />
      )}
      {doneBy && (
        <p className="text-label text-muted">
          expected in <Countdown due="a moment" to={doneBy} />
        </p>
      )}
    </section>
  )
}

function Facts({ task, now }: { task: Task; now: ShownTask }) {
  const spent = [
    task.budget?.maxUsd && `$${task.budget.maxUsd}`,
    task.budget?.maxTokens && `${task.budget.maxTokens} tokens`,
  ]
  const budget = spent.filter(Boolean).join(', ')
  const track = task.key && parseTaskKey(task.key)?.track
  const rows: [string, ReactNode][] = [
    [
      'Cost',
      now.costUsd === null && now.tokensUsed === 0 ? null : (
        <Money key="cost" simulated={task.isSimulated && 'words'} usd={now.costUsd} />
      ),
    ],
    ['Tokens', now.tokensUsed === 0 ? null : <Tokens count={now.tokensUsed} key="tokens" />],
    ['Budget', budget === '' ? null : budget],
    [task.durationMs === null ? 'Since start' : 'Time', timeOf(task)],
    [
      'Verified by',
      task.verifiedBy &&
        `${task.verifiedBy}${task.verifierScore === null ? '' : `, score ${task.verifierScore}`}`,
    ],
    ['Type', task.taskType],
    ['Model', task.model],
    ['Preferred', task.preferredAgent && `${task.preferredAgent} goes first`],
    ['Project', task.project],
    ['Track', track && task.project && <Track key="track" project={task.project} track={track} />],
    ['Mission', task.missionId && <MissionLink id={task.missionId} key="mission" />],
    [
      'Part of',
      task.parentId && <TaskLink key="parent" to={`/tasks/${task.parentId}`} words="open the whole" />,
    ],
    [
      'Judges',
      task.servesTask && (
        <TaskLink key="serves" to={`/tasks/${task.servesTask}`} words="open the judged task" />
      ),
    ],
    ['Key', task.key && <Copyable key="key" text={task.key} />],
    ['Created', <Moment at={task.createdAt} key="created" />],
    ['Expires', task.expiresAt && <Moment at={task.expiresAt} key="expires" />],
    ['Number', <Copyable key="id" shown={`#${idCarriedBy(task.id)}`} text={task.id} />],
  ]
  return (
    <dl className="grid grid-cols-[6rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 text-row">
      {rows
        .filter(([, value]) => value !== null && value !== '' && value !== undefined)
        .map(([words, value]) => (
          <div className="contents" key={words}>
            <dt className="text-muted">{words}</dt>
            <dd className="min-w-0 truncate">{value}</dd>
          </div>
        ))}
      {task.tags.length > 0 && (
        <div className="contents">
          <dt className="text-muted">Tags</dt>
          <dd className="flex min-w-0 flex-wrap gap-1">
            {task.tags.map((tag) => (
              <Chip key={tag}>{tag}</Chip>
            ))}
          </dd>
        </div>
      )}
    </dl>
  )
}

const TaskLink = ({ to, words }: { to: string; words: string }) => (
  <PageLink className="text-accent hover:underline" to={to}>
    {words}
  </PageLink>
)

/** Its mission, by its title. */
function MissionLink({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['mission-name', id],
    queryFn: ({ signal }) => api().get('/missions/:id', { params: { id }, signal }),
    staleTime: 60_000,
  })
  return <TaskLink to={`/missions/${id}`} words={data?.title ?? 'Open it'} />
}

/** How long it took, or takes so far, beside what was expected. */
function timeOf(task: Task): ReactNode {
  const estimate = task.estimatedDurationMinutes
  const expected = estimate === null ? '' : `, expected ${durationText(estimate * 60_000)}`
  if (task.durationMs !== null)
    return (
      <>
        <Duration ms={task.durationMs} />
        {expected}
      </>
    )
  if (task.startedAt === null) return expected === '' ? null : expected.slice(2)
  return (
    <>
      <Duration since={task.startedAt} />
      {expected}
    </>
  )
}

/** Inputs that were not given are not shown. */
function Folded({ words, children }: { words: string; children: unknown }) {
  if (children === null || children === undefined || isEmptyObject(children)) return null
  return (
    <details className="group border-t border-line py-1.5 last:border-b">
      <summary className="touchable cursor-pointer text-row font-medium text-muted hover:text-ink">
        {words}
      </summary>
      <div className="mt-2 mb-1">
        <ValueText label={words} value={children} />
      </div>
    </details>
  )
}

const isEmptyObject = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0

/** The track of a task, and what the track is for. */
function Track({ project, track }: { project: string; track: string }) {
  const { data } = useQuery({
    queryKey: ['project', project],
    queryFn: ({ signal }) => api().get('/projects/:slug', { params: { slug: project }, signal }),
    staleTime: 60_000,
  })
  const purpose = data?.tracks.find((one) => one.track === track)?.purpose ?? null
  return (
    <span className="break-words whitespace-normal">
      {track}
      {purpose !== null && <span className="text-muted"> · {purpose}</span>}
    </span>
  )
}
