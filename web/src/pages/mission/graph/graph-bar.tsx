import { Button } from '../../../parts/button.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { countText } from '../../../parts/wording.ts'
import { nameOfTask } from '../../../requests/act-words.ts'
import type { TaskGraph } from '../task-rows.ts'

/** What is drawn, and what can be done with it. */
export function GraphBar(props: {
  whole: TaskGraph
  focus: string | undefined
  current: string | null
  more: number
  undrawn: number
  onlyFailed: boolean
  onFailed: () => void
  onFocus: (task: string | undefined) => void
  onZoom: (by: number) => void
  onFit: () => void
}) {
  const { whole, focus, current, more, undrawn, onlyFailed, onFailed, onFocus, onZoom, onFit } = props
  const nameOf = (id: string) => {
    const state = whole.nodes.find((node) => node.id === id)?.state ?? null
    return state === null ? id : nameOfTask(id, undefined)
  }
  return (
    <div className="flex flex-wrap items-center gap-2 text-row">
      <span className="text-muted">
        {focus === undefined
          ? `${countText(whole.nodes.length)} ${whole.nodes.length === 1 ? 'task' : 'tasks'}`
          : `${nameOf(focus)} with its neighbours${more > 0 ? `, without ${countText(more)} more` : ''}`}
        {undrawn > 0 && `. ${countText(undrawn)} lines are drawn only for the task that you choose`}
      </span>
      <span className="ml-auto flex flex-wrap items-center gap-1">
        {focus === undefined ? (
          <Button
            disabledReason={current === null ? 'There is no task.' : null}
            onClick={() => current && onFocus(current)}
            shortcut="n"
            size="small"
          >
            Only {current === null ? 'one task' : nameOf(current)} and its neighbours
          </Button>
        ) : (
          <Button onClick={() => onFocus(undefined)} shortcut="Esc" size="small">
            Show all tasks
          </Button>
        )}
        <Button
          aria-pressed={onlyFailed}
          kind={onlyFailed ? 'primary' : 'plain'}
          onClick={onFailed}
          shortcut="f"
          size="small"
        >
          Failed only
        </Button>
        <IconButton icon="minus" label="Smaller" onClick={() => onZoom(0.8)} shortcut="-" size="small" />
        <IconButton icon="plus" label="Larger" onClick={() => onZoom(1.25)} shortcut="+" size="small" />
        <IconButton icon="expand" label="Fit the graph" onClick={onFit} shortcut="0" size="small" />
      </span>
    </div>
  )
}
