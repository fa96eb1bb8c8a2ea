import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useListOf } from '../../keys/siblings.ts'
import { PageLink } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { countText } from '../../parts/wording.ts'
import { CardReason } from '../board/card-lines.tsx'
import { attemptWords } from '../board/words.ts'
import type { Mission } from '../missions/progress.tsx'
import { LayerHead } from './layer-head.tsx'
import { layersOfTasks, type TaskNode, workIn } from './task-rows.ts'
import { useTasksOf } from './use-mission.ts'

const HEAD = 'px-2 py-1.5 text-left text-label font-medium text-muted first:pl-0'
const CELL = 'px-2 py-2 align-top first:pl-0 max-sm:block max-sm:px-0 max-sm:py-0.5'
/** As many cards as one request reads. */
const ROWS_AT_ONCE = 200

/** The tasks by layers. Each row is its card, so it changes with its task. */
export function MissionTasks({ mission }: { mission: Mission }) {
  const { data, error, refetch } = useTasksOf(mission.id)
  const [most, setMost] = useState(ROWS_AT_ONCE)
  const [shows, setShows] = useState<'all' | 'failed'>('all')
  useShortcuts('Mission', {
    f: { words: 'Failed tasks only', run: () => setShows(shows === 'all' ? 'failed' : 'all') },
  })
  const all = (data ?? []).filter(({ state }) => shows === 'all' || state === 'failed')
  const layers = layersOfTasks(all, most)
  useListOf(
    'task',
    layers.flatMap(({ tasks }) => tasks.map(({ id }) => id)),
  )
  if (error && !data) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={6} />
  if (mission.taskCount === 0)
    return <p className="text-muted">It has no tasks yet. They are created when its plan is approved.</p>
  const count = workIn(all)
  return (
    <>
      {mission.tasksFailed > 0 && (
        <div>
          <Segmented
            label="Which tasks"
            onChange={setShows}
            options={[
              { value: 'all', words: 'All tasks' },
              { value: 'failed', words: 'Failed only' },
            ]}
            value={shows}
          />
        </div>
      )}
      <table className="w-full table-fixed border-collapse text-row max-sm:block">
        <caption className="sr-only">Tasks of the mission, by layers</caption>
        <thead className="border-b border-line max-sm:sr-only">
          <tr>
            <th className={`${HEAD} w-36`}>State</th>
            <th className={HEAD}>Task</th>
            <th className={`${HEAD} w-[18%]`}>Agent</th>
            <th className={`${HEAD} w-[26%]`}>Now</th>
            <th className={`${HEAD} w-20`}>Attempt</th>
            <th className={`${HEAD} w-20`}>Cost</th>
          </tr>
        </thead>
        {layers.map(({ layer, tasks }) => (
          <tbody className="max-sm:block" key={layer}>
            <LayerHead columns={6} layer={layer} tasks={tasks.length} />
            {tasks.map((node) => (
              <TaskRow key={node.id} node={node} />
            ))}
          </tbody>
        ))}
      </table>
      {count === 0 && <p className="text-muted">No task has failed.</p>}
      {count > most && (
        <p className="flex items-center gap-3 text-row text-muted">
          These are {countText(most)} of {countText(count)}.
          <Button onClick={() => setMost(most + ROWS_AT_ONCE)} size="small">
            Show more
          </Button>
        </p>
      )}
    </>
  )
}

function TaskRow({ node }: { node: TaskNode }) {
  const card = useCard(node.id)
  const agent = card ? (card.holder?.agent ?? card.agent) : node.agent
  const state = card?.state ?? node.state
  const cost = card?.costUsd ?? node.costUsd
  return (
    <tr className="border-b border-line max-sm:block max-sm:py-2">
      <td className={CELL}>{state && <StateChip percent={card?.percent ?? null} state={state} />}</td>
      <td className={`${CELL} break-words`}>
        <PageLink className="hover:text-accent hover:underline" to={`/tasks/${node.id}`}>
          {node.title}
        </PageLink>{' '}
        {node.number === null && <Chip hue="held">added {card && <Moment at={card.createdAt} />}</Chip>}
      </td>
      <td className={CELL}>
        <span className="flex">{agent && <AgentChip size={16} slug={agent} />}</span>
      </td>
      <td className={CELL}>{card && card.state !== 'completed' && <CardReason card={card} />}</td>
      <td className={`${CELL} text-muted tabular-nums max-sm:hidden`}>{card && attemptWords(card)}</td>
      <td className={`${CELL} text-muted max-sm:hidden`}>
        {cost !== null && Number(cost) > 0 && <Money usd={cost} />}
      </td>
    </tr>
  )
}
