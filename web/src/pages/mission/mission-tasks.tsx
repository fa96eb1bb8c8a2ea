import type { AnswerTo } from '../../../../src/client/client.ts'
import { PageLink } from '../../links.tsx'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Moment } from '../../parts/moment.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { countText } from '../../parts/wording.ts'
import type { Mission } from '../missions/progress.tsx'
import { useTasksOf } from './use-mission.ts'

type Task = AnswerTo<'GET', '/missions/:id/tasks'>['items'][number]

const HEAD = 'px-2 py-1.5 text-left text-label font-medium text-muted first:pl-0'
const CELL = 'px-2 py-2 align-top first:pl-0 max-sm:block max-sm:px-0 max-sm:py-0.5'

/** In the order of the plan; what agents added comes last. */
const inOrder = (a: Task, b: Task) =>
  (a.plan?.sequenceNumber ?? 1e9) - (b.plan?.sequenceNumber ?? 1e9) || a.createdAt.localeCompare(b.createdAt)

export function MissionTasks({ mission }: { mission: Mission }) {
  const { data, error, refetch } = useTasksOf(mission.id)
  if (error && !data) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={6} />
  if (data.items.length === 0)
    return <p className="text-muted">It has no tasks yet. They are made when its plan is approved.</p>
  return (
    <>
      <table className="w-full table-fixed border-collapse text-row max-sm:block">
        <caption className="sr-only">Tasks of the mission</caption>
        <thead className="border-b border-line max-sm:sr-only">
          <tr>
            <th className={`${HEAD} w-36`}>State</th>
            <th className={HEAD}>Task</th>
            <th className={`${HEAD} w-[20%]`}>Agent</th>
            <th className={`${HEAD} w-[26%]`}>Now</th>
            <th className={`${HEAD} w-20`}>Attempt</th>
          </tr>
        </thead>
        <tbody className="max-sm:block">
          {[...data.items].sort(inOrder).map((task) => (
            <TaskRow key={task.id} task={task} />
          ))}
        </tbody>
      </table>
      {data.nextCursor !== null && (
        <p className="text-row text-muted">
          These are the newest {countText(data.items.length)} of {countText(mission.taskCount)}.
        </p>
      )}
    </>
  )
}

function TaskRow({ task }: { task: Task }) {
  const agent = task.holder?.agent ?? task.agent
  return (
    <tr className="border-b border-line max-sm:block max-sm:py-2">
      <td className={CELL}>
        <StateChip percent={task.progress?.percent ?? null} state={task.state} />
      </td>
      <td className={`${CELL} break-words`}>
        <PageLink className="hover:text-accent hover:underline" to={`/tasks/${task.key ?? task.id}`}>
          {task.title}
        </PageLink>
      </td>
      <td className={CELL}>
        <span className="flex">{agent && <AgentChip size={16} slug={agent} />}</span>
      </td>
      <td className={`${CELL} truncate text-muted`}>
        <NowDoing task={task} />
      </td>
      <td className={`${CELL} text-muted tabular-nums`}>
        {task.attempt > 0 && `${task.attempt} of ${task.maxRetries + 1}`}
      </td>
    </tr>
  )
}

/** The reason it stands still, or what it does. */
function NowDoing({ task }: { task: Task }) {
  if (task.error !== null && task.state !== 'completed')
    return (
      <span className="text-bad" title={task.error}>
        {task.error}
      </span>
    )
  if (task.state === 'awaiting_retry' && task.dueAt)
    return (
      <>
        tried again <Moment at={task.dueAt} />
      </>
    )
  if (task.awaits) return task.question?.question ?? task.awaits.reason ?? 'waits for you'
  return task.stateType === 'terminal' ? null : (task.progress?.step ?? null)
}
