import { useState } from 'react'
import { PageLink } from '../../links.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import type { Neighbour, Task } from './use-task.ts'
import { openOf } from './why.ts'

const FIRST = 6

/** What it waits for, and what waits for it, with their states. */
export function Neighbours({ task }: { task: Task }) {
  if (task.blockedBy.length === 0 && task.blocks.length === 0)
    return <p className="text-row text-muted">It waits for no other task, and no task waits for it.</p>
  return (
    <div className="flex flex-col gap-3">
      <NeighbourList
        neighbours={task.blockedBy}
        words={openOf(task.blockedBy).length > 0 ? 'Waiting for' : 'Waited for'}
      />
      <NeighbourList neighbours={task.blocks} words="Blocks" />
    </div>
  )
}

function NeighbourList({ words, neighbours }: { words: string; neighbours: readonly Neighbour[] }) {
  const [isWhole, setWhole] = useState(false)
  if (neighbours.length === 0) return null
  const more = neighbours.length - FIRST
  return (
    <section aria-label={words}>
      <h3 className="text-label font-medium text-muted">
        {words} {neighbours.length > 1 && neighbours.length}
      </h3>
      <ul className="mt-1 flex flex-col">
        {(isWhole ? neighbours : neighbours.slice(0, FIRST)).map((one) => (
          <li key={one.taskId}>
            <PageLink
              className="touchable -mx-1.5 flex min-h-7 items-center gap-2 rounded-chip px-1.5 text-row hover:bg-hover"
              to={`/tasks/${one.key ?? one.taskId}`}
            >
              <StateMark label={STATE_LOOKS[one.state].word} size={14} state={one.state} />
              <span className="shrink-0 font-mono text-label text-muted">
                {one.key ? shortKey(one.key) : nameOfTask(one.taskId, undefined)}
              </span>
              <span className="min-w-0 truncate" title={one.title}>
                {one.title}
              </span>
              {one.kind === 'order' && <span className="ml-auto text-label text-faint">order only</span>}
            </PageLink>
          </li>
        ))}
      </ul>
      {more > 0 && !isWhole && (
        <button
          className="touchable text-row text-accent hover:underline"
          onClick={() => setWhole(true)}
          type="button"
        >
          Show {more} more
        </button>
      )}
    </section>
  )
}
