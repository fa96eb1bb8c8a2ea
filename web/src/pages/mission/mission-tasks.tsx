import { useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useListOf } from '../../keys/siblings.ts'
import { PageLink, useGo } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { countText } from '../../parts/wording.ts'
import { LayerHead } from '../../things/mission/layers.tsx'
import type { Mission } from '../../things/mission/progress.tsx'
import { CardReason } from '../../things/task/card-lines.tsx'
import { agesFrom, attemptWords, shortName } from '../../things/task/card-words.ts'
import { isAdded, layersOfTasks, type TaskNode } from './task-rows.ts'
import { useGraphOf } from './use-mission.ts'
import type { MissionAddress } from './views.ts'

const HEAD = 'px-2 py-1.5 text-left text-label font-medium text-muted'
const CELL = 'px-2 py-2 align-top @max-[800px]:block @max-[800px]:px-0 @max-[800px]:py-0.5'
/** Tasks shown at first: as many cards as one request reads. */
const ROWS_AT_ONCE = 200

/** The tasks by layers. Each row is its card, so it changes with its task. */
export function MissionTasks(props: {
  mission: Mission
  place: MissionAddress
  /** The address with a change. */
  addressOf: (change: MissionAddress) => string
}) {
  const { mission, place } = props
  const addressOf = (task: string) => props.addressOf({ task })
  const go = useGo()
  const read = useGraphOf(mission.id)
  const { data } = read
  const [most, setMost] = useState(ROWS_AT_ONCE)
  const shows = place.only ?? 'all'
  const setShows = (next: 'all' | 'failed') =>
    go(props.addressOf({ only: next === 'all' ? undefined : next }), { replace: true })
  const rows = useRef<HTMLTableElement>(null)
  const step = (by: number) => {
    const links = [...(rows.current?.querySelectorAll<HTMLElement>('[data-task]') ?? [])]
    const at = links.indexOf(document.activeElement as HTMLElement)
    links[Math.min(links.length - 1, Math.max(0, at === -1 ? 0 : at + by))]?.focus()
  }
  useShortcuts('Mission', {
    j: { words: 'Next task', run: () => step(1), repeats: true },
    k: { words: 'Previous task', run: () => step(-1), repeats: true },
    f: { words: 'Failed tasks only', run: () => setShows(shows === 'all' ? 'failed' : 'all') },
  })
  const all = (data?.nodes ?? []).filter(
    ({ state }) => state !== null && (shows === 'all' || state === 'failed'),
  )
  const layers = layersOfTasks(all, most)
  useListOf(
    'task',
    layers.flatMap(({ tasks }) => tasks.map(({ id }) => id)),
  )
  if (!data) return <Loading read={read} rows={6} />
  if (mission.taskCount === 0)
    return <p className="text-muted">It has no tasks yet. They are created when its plan is approved.</p>
  const count = all.length
  return (
    <>
      {(mission.tasksFailed > 0 || shows === 'failed') && (
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
      <table
        ref={rows}
        className="-mx-2 w-[calc(100%+1rem)] table-fixed border-collapse text-row @max-[800px]:block"
      >
        <caption className="sr-only">Tasks of the mission, by layers</caption>
        <thead className="border-b border-line @max-[800px]:sr-only">
          <tr>
            <th className={`${HEAD} w-36`}>State</th>
            <th className={HEAD}>Task</th>
            <th className={`${HEAD} w-[16%]`}>Agent</th>
            <th className={`${HEAD} w-[24%]`}>Now</th>
            <th className={`${HEAD} w-20 @max-[1000px]:hidden!`}>Attempt</th>
            <th className={`${HEAD} w-20 @max-[1000px]:hidden!`}>Cost</th>
            <th className={`${HEAD} w-24 text-right`}>Since</th>
          </tr>
        </thead>
        {layers.map(({ layer, tasks }) => (
          <tbody className="@max-[800px]:block" key={layer}>
            <LayerHead columns={7} layer={layer} tasks={tasks.length} />
            {tasks.map((node) => (
              <TaskRow addressOf={addressOf} isOpen={node.id === place.task} key={node.id} node={node} />
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

function TaskRow(props: { node: TaskNode; isOpen: boolean; addressOf: (task: string) => string }) {
  const { node, isOpen, addressOf } = props
  const card = useCard(node.id)
  const go = useGo()
  const agent = card ? (card.holder?.agent ?? card.agent) : node.agent
  const state = card?.state ?? node.state
  const cost = card?.costUsd ?? node.costUsd
  const isSimulated = card?.isSimulated ?? node.isSimulated
  const isRunning = card?.state === 'running' || card?.state === 'continuing'
  return (
    <tr
      className={`cursor-pointer border-b border-line hover:bg-hover @max-[800px]:flex @max-[800px]:flex-wrap @max-[800px]:items-center @max-[800px]:gap-x-3 @max-[800px]:p-2 ${isOpen ? 'bg-hover' : ''}`}
      onClick={(event) => {
        const isOnControl = (event.target as Element).closest('a, button')
        if (!isOnControl && getSelection()?.isCollapsed !== false) go(addressOf(node.id))
      }}
    >
      <td className={CELL}>{state && <StateChip percent={card?.percent ?? null} state={state} />}</td>
      <td className={`${CELL} wrap-anywhere @max-[800px]:order-first @max-[800px]:basis-full`}>
        <PageLink
          className="font-medium hover:text-accent hover:underline"
          data-task={node.id}
          to={addressOf(node.id)}
        >
          <span className="mr-1.5 font-mono text-label text-muted">{shortName(node.id, card)}</span>
          {node.title}
        </PageLink>{' '}
        {isAdded(node) && <Chip hue="held">added {card && <Moment at={card.createdAt} />}</Chip>}
      </td>
      <td className={CELL}>
        <span className="flex">{agent && <AgentChip size={16} slug={agent} />}</span>
      </td>
      <td className={`${CELL} @max-[800px]:min-w-0 @max-[800px]:flex-1`}>
        {card && card.state !== 'completed' && <CardReason card={card} isBesideState />}
        {card && isRunning && card.percent !== null && (
          <div className="mt-1 max-w-40">
            <ProgressBar height={3} label={`Progress of ${node.title}`} percent={card.percent} />
          </div>
        )}
      </td>
      <td className={`${CELL} text-muted tabular-nums @max-[1000px]:hidden!`}>
        {card && attemptWords(card)}
      </td>
      <td className={`${CELL} text-muted @max-[1000px]:hidden!`}>
        {cost !== null && Number(cost) > 0 && <Money simulated={isSimulated && 'short'} usd={cost} />}
      </td>
      <td className={`${CELL} text-right text-muted tabular-nums`}>
        {card && (isRunning ? <Duration since={card.stateSince} /> : <Moment at={agesFrom(card)} />)}
      </td>
    </tr>
  )
}
