import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import { Countdown } from '../../parts/countdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'
import { useAgentActs } from '../agent/use-agent-acts.ts'
import type { ShownTask, Task } from './use-task.ts'
import { whyAndNext } from './why.ts'

export const shortName = (task: Task) => shortKey(nameOfTask(task.id, task))
export const titleOf = (task: Task) => `${shortName(task)} ${task.title}`

export function TaskHeading({ task, now }: { task: Task; now: ShownTask }) {
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <StateChip isPending={now.isPending} percent={now.percent} state={now.state} />
      <span className="min-w-0">
        <span className="mr-2 font-mono text-title font-normal text-muted" title={task.key ?? task.id}>
          {shortName(task)}
        </span>
        <span className="wrap-anywhere">{task.title}</span>
      </span>
    </span>
  )
}

const DOTTED =
  "flex flex-wrap items-center gap-x-2 gap-y-0.5 sm:[&>*:not(:first-child)]:before:mr-2 sm:[&>*:not(:first-child)]:before:text-faint sm:[&>*:not(:first-child)]:before:content-['·'] max-sm:gap-x-3"

/** Which attempt, who has it, and for how long it is theirs. */
export function TaskFacts({ task, now }: { task: Task; now: ShownTask }) {
  const { holder } = now
  return (
    <span className={`mt-1 text-row text-muted ${DOTTED}`}>
      {now.attempt > 0 && (
        <span>
          attempt {now.attempt} of {task.maxRetries + 1}
        </span>
      )}
      {holder && (
        <span className="inline-flex items-center gap-1.5">
          <AgentChip size={16} slug={holder.agent} />
          <span>
            holds it, lease <Countdown due="over" to={holder.leaseExpiresAt} />
          </span>
        </span>
      )}
      {!holder && now.agent && <span>only for {now.agent}</span>}
      <span>priority {now.priority}</span>
      {task.archivedAt !== null && (
        <span>
          archived <Moment at={task.archivedAt} />
        </span>
      )}
      {task.completedAt !== null ? (
        <span>
          ended <Moment at={task.completedAt} />
        </span>
      ) : (
        <span>
          created <Moment at={task.createdAt} />
        </span>
      )}
    </span>
  )
}

const sentence = (words: string) => words.charAt(0).toUpperCase() + words.slice(1)

/** What keeps it waiting, and what happens next. */
export function WhyAndNextLines({ task, now }: { task: Task; now: ShownTask }) {
  const { why, next, resume } = whyAndNext(task, now)
  if (why === null && next === null) return null
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-body">
      {why !== null && (
        <>
          <dt className="text-muted">Why</dt>
          <dd className="line-clamp-3 wrap-anywhere" title={why}>
            {sentence(why)}
          </dd>
        </>
      )}
      {next !== null && (
        <>
          <dt className="text-muted">Next</dt>
          <dd>
            {sentence(next.words)}
            {next.at !== null && (
              <>
                {' '}
                <Countdown due="a moment" to={next.at} />
              </>
            )}
            {resume && <Resume slug={resume} />}
          </dd>
        </>
      )}
    </dl>
  )
}

/** The act that helps, where it is needed. */
function Resume({ slug }: { slug: string }) {
  const { pauseOrResume, whyNotPause, isPausing } = useAgentActs()
  const agent = { slug, state: 'paused', adapterType: '', leaving: false } as const
  return (
    <Button
      busy={isPausing(slug)}
      className="ml-2"
      disabledReason={whyNotPause(agent)}
      onClick={() => pauseOrResume(agent)}
      size="small"
    >
      Resume {slug}
    </Button>
  )
}
