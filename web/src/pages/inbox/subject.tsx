import { PageLink } from '../../links.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { plainWords, reasonText, sentence } from '../../parts/wording.ts'
import { reasonText as withoutCodeIn } from '../../things/agent/reason-text.ts'
import { Stopped } from '../../things/budget/stopped.tsx'
import { MissionChanges } from '../../things/changes/mission-changes.tsx'
import { Part, Review } from '../../things/changes/review.tsx'
import type { InboxDetail } from '../../things/inbox/kinds.ts'
import { PlanVersion } from '../../things/mission/plan-version.tsx'
import { REVIEW_REQUIRED } from '../../things/task/card-words.ts'

/** What is to be decided about, in full. */
export function Subject({ item }: { item: InboxDetail }) {
  const { kind, task, mission, plan, agent, needs, reason, limit } = item
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
        <Markdown text={mission?.errorMessage ?? reason ?? 'The planner made no valid plan.'} />
      )
    case 'review':
      return task ? (
        <Review
          digest={item.digest}
          generation={item.generation ?? task.generation}
          hasKeys
          reason={reason === null || reason === REVIEW_REQUIRED ? null : reasonText(reason)}
          task={task}
        />
      ) : null
    case 'budget':
      return (
        <div className="flex flex-col gap-4">
          {reason && <Markdown text={reason} />}
          {limit && <Stopped budget={limit} />}
        </div>
      )
    case 'outcome':
      return mission ? (
        <div className="flex flex-col gap-4">
          <Part title="Goal">
            <Markdown text={mission.goal} />
          </Part>
          {reason && (
            <Part title="What was missing">
              <Markdown text={reason} />
            </Part>
          )}
          <p className="text-muted">
            {mission.tasksCompleted} of {mission.taskCount} tasks are completed. Rejected, the mission needs
            another version of its plan: from its planner, or from you.
          </p>
          <Part title="Changes">
            <MissionChanges hasKeys id={mission.id} />
          </Part>
        </div>
      ) : null
    case 'finished':
      return mission ? <Finished mission={mission} reason={reason} /> : null
    case 'dead_letter':
      return <Failed text={task?.error ?? reason} />
    case 'agent':
      return <Failed text={withoutCode(agent?.stateReason ?? reason)} />
    case 'alert':
      if (item.alert) return <Wrong alert={item.alert} reason={reason} />
      return (
        <div className="flex flex-col gap-2">
          <p className="break-words">
            {reason && `${sentence(reason)} `}
            {needs?.agent
              ? `The task is reserved for ${needs.agent}.`
              : `The task needs ${needs?.capabilities.join(', ') || 'an agent'}.`}
          </p>
          <TakeIt item={item} />
        </div>
      )
  }
}

type Mission = NonNullable<InboxDetail['mission']>

/** How a mission ended, in figures, and what it changed. */
function Finished({ mission, reason }: { mission: Mission; reason: string | null }) {
  const { tasksCompleted, tasksFailed, taskCount, durationMs, costUsd, isSimulated } = mission
  return (
    <div className="flex flex-col gap-4">
      <Part title="Goal">
        <Markdown text={mission.goal} />
      </Part>
      {reason && (
        <Part title="Why it failed">
          <Markdown text={reason} />
        </Part>
      )}
      <p className="flex flex-wrap gap-x-3 text-muted tabular-nums">
        <span>
          {tasksCompleted} of {taskCount} {taskCount === 1 ? 'task' : 'tasks'} completed
        </span>
        {tasksFailed > 0 && <span className="text-bad">{tasksFailed} failed</span>}
        {durationMs !== null && <Duration ms={durationMs} />}
        <span>
          cost <Money simulated={isSimulated && 'words'} usd={costUsd} />
        </span>
      </p>
      <Part title="Changes">
        <MissionChanges hasKeys id={mission.id} />
      </Part>
    </div>
  )
}

const withoutCode = (reason: string | null) => reason && withoutCodeIn(reason)

const Failed = ({ text }: { text: string | null }) => (
  <pre className="max-h-80 overflow-auto rounded-card border border-line bg-sunken p-3 font-mono text-row break-words whitespace-pre-wrap">
    {text ?? 'No reason was given.'}
  </pre>
)

/** What is wrong, and how often it was noticed. What to do about it is on the page of alerts. */
const Wrong = ({ alert, reason }: { alert: NonNullable<InboxDetail['alert']>; reason: string | null }) => (
  <div className="flex flex-col gap-2">
    {reason && <p className="break-words">{sentence(plainWords(withoutCodeIn(reason)))}</p>}
    <p className="break-words text-muted">
      {alert.count > 1 && `It was noticed ${alert.count} times. `}
      {alert.todo}
    </p>
    <PageLink
      className="touchable inline-flex items-center self-start text-accent hover:underline"
      to="/alerts"
    >
      All alerts
    </PageLink>
  </div>
)

/** A person may do it in place of an agent: make the plan, or give the result. */
function TakeIt({ item: { task, about } }: { item: InboxDetail }) {
  const isPlan = task?.purpose === 'planning'
  return (
    <PageLink
      className="touchable inline-flex items-center self-start text-accent hover:underline"
      to={isPlan ? `/missions/${about.missionId}?view=plan` : `/tasks/${task?.key ?? about.taskId}`}
    >
      {isPlan ? 'Make the plan yourself' : 'Do it yourself'}
    </PageLink>
  )
}

/** What happened then; of all others somebody was asked. */
const SINCE_WORDS: Partial<Record<InboxDetail['kind'], string>> = {
  finished: 'ended',
  dead_letter: 'failed',
  agent: 'stopped',
  alert: 'noticed',
}

/** Who made it, when, and where to read more. */
export function Origin({ item }: { item: InboxDetail }) {
  const { about, askedBy, generation, since, kind, task, digest } = item
  const links = [
    about.taskId && { to: `/tasks/${task?.key ?? about.taskId}`, words: 'Open the task' },
    about.runId && { to: `/runs/${about.runId}`, words: 'Open its last run' },
    // One that has ended is opened with a button, which marks it as seen.
    about.missionId &&
      kind !== 'finished' && { to: `/missions/${about.missionId}`, words: 'Open the mission' },
    about.budgetId && { to: `/budgets?budget=${about.budgetId}`, words: 'Open the budget' },
    item.actions.includes('allow') && { to: '/settings/prices', words: 'Set its price' },
    kind === 'agent' && about.agent && { to: `/agents/${about.agent}`, words: 'Open the agent' },
  ].filter((one) => !!one)
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-row text-muted">
      {askedBy && <span>{askedBy}</span>}
      {about.taskId !== null && generation !== null && <span>attempt {generation}</span>}
      <span>
        {SINCE_WORDS[kind] ?? 'asked'} <Moment at={since} />
      </span>
      {digest && <span title={`Its fingerprint: ${digest}`}>your answer counts for this version only</span>}
      {links.map(({ to, words }) => (
        <PageLink className="touchable inline-flex items-center text-accent hover:underline" key={to} to={to}>
          {words}
        </PageLink>
      ))}
    </div>
  )
}
