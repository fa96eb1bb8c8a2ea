import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { PageLink } from '../../links.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { api } from '../../requests/api.ts'
import { PlanVersion } from '../mission/plan-version.tsx'
import type { InboxDetail } from './kinds.ts'

/** What is to be decided about, in full. */
export function Subject({ item }: { item: InboxDetail }) {
  const { kind, task, mission, plan, agent, needs, reason } = item
  switch (kind) {
    case 'question':
      return <Markdown text={task?.question?.question ?? item.preview ?? ''} />
    case 'plan':
      return plan && mission ? (
        <div className="flex flex-col gap-4">
          <Part title="Goal">
            <Markdown text={mission.goal} />
          </Part>
          <PlanVersion
            missionId={mission.id}
            since={mission.approvedVersion ?? (plan.version > 1 ? plan.version - 1 : null)}
            version={plan.version}
          />
        </div>
      ) : (
        <p className="break-words">{mission?.errorMessage ?? reason ?? 'The planner made no valid plan.'}</p>
      )
    case 'review':
      return <Result item={item} />
    case 'budget':
      return reason ? <p className="break-words text-muted">{reason}</p> : null
    case 'dead_letter':
      return <Failed text={task?.error ?? reason} />
    case 'agent':
      return <Failed text={agent?.stateReason ?? reason} />
    case 'alert':
      return (
        <p className="break-words">
          {reason && `${reason}. `}
          {needs?.agent
            ? `The task is reserved for ${needs.agent}.`
            : `The task needs ${needs?.capabilities.join(', ') || 'an agent'}.`}
        </p>
      )
  }
}

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section className="flex min-w-0 flex-col gap-1">
    <h3 className="text-label font-medium text-muted">{title}</h3>
    {children}
  </section>
)

const Failed = ({ text }: { text: string | null }) => (
  <pre className="max-h-80 overflow-auto rounded-card border border-line bg-sunken p-3 font-mono text-row break-words whitespace-pre-wrap">
    {text ?? 'No reason was given.'}
  </pre>
)

const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))

/** The result, what verifiers said of it, and how it differs from the previous one. */
function Result({ item }: { item: InboxDetail }) {
  const id = item.about.taskId!
  const { data, error, refetch } = useQuery({
    queryKey: ['inbox-result', id, item.generation, item.digest],
    queryFn: async ({ signal }) => {
      const [results, task] = await Promise.all([
        api().get('/tasks/:id/results', { params: { id }, signal }),
        api().get('/tasks/:id', { params: { id }, signal }),
      ])
      return { results: results.items, task }
    },
  })
  if (error) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={4} />
  const results = [...data.results].sort((a, b) => b.generation - a.generation)
  const shown = results.find(({ workProductRef }) => workProductRef === item.workProductRef) ?? results[0]
  const before = results.find((one) => one !== shown && one.generation <= (shown?.generation ?? 0))
  const verdicts = data.task.verifications.filter(({ generation }) => generation === shown?.generation)
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {item.reason && <p className="break-words text-muted">{item.reason}</p>}
      {verdicts.map(({ taskId, verdict, score, verifier, feedback }) => (
        <div className="flex flex-col gap-1" key={taskId}>
          <p className="flex flex-wrap items-center gap-2 text-row">
            <Chip hue={verdict === 'pass' ? 'done' : verdict === 'fail' ? 'bad' : 'ask'}>
              {verdict ?? 'no verdict'}
            </Chip>
            {score !== null && <span className="tabular-nums">score {score}</span>}
            {verifier && <span className="text-muted">by {verifier}</span>}
          </p>
          {feedback && <Markdown text={feedback} />}
        </div>
      ))}
      {item.summary && (
        <Part title="Summary">
          <Markdown text={item.summary} />
        </Part>
      )}
      {shown && before ? (
        <Part title={`Result, compared with generation ${before.generation}`}>
          {before.rejectionReason && (
            <p className="text-row break-words text-muted">That one was refused: {before.rejectionReason}</p>
          )}
          <Diff after={textOf(shown.result) ?? ''} before={textOf(before.result) ?? ''} label="Result" />
        </Part>
      ) : (
        shown && (
          <Part title="Result">
            <pre className="max-h-96 overflow-auto rounded-card border border-line bg-sunken p-3 font-mono text-row break-words whitespace-pre-wrap">
              {textOf(shown.result)}
            </pre>
          </Part>
        )
      )}
    </div>
  )
}

/** Who made it, when, and where to read more. */
export function Origin({ item }: { item: InboxDetail }) {
  const { about, askedBy, generation, since, kind, task, digest } = item
  const links = [
    about.taskId && { to: `/tasks/${task?.key ?? about.taskId}`, words: 'Open the task' },
    about.runId && { to: `/runs/${about.runId}`, words: 'Open its last run' },
    about.missionId && { to: `/missions/${about.missionId}`, words: 'Open the mission' },
    kind === 'agent' && about.agent && { to: `/agents/${about.agent}`, words: 'Open the agent' },
  ].filter((one) => !!one)
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-row text-muted">
      {askedBy && <span>{askedBy}</span>}
      {about.taskId !== null && generation !== null && <span>generation {generation}</span>}
      <span>
        asked <Moment at={since} />
      </span>
      {digest && (
        <span className="font-mono text-label text-faint" title={`Your answer applies only to ${digest}`}>
          {digest.slice(0, 8)}
        </span>
      )}
      {links.map(({ to, words }) => (
        <PageLink className="touchable inline-flex items-center text-accent hover:underline" key={to} to={to}>
          {words}
        </PageLink>
      ))}
    </div>
  )
}
