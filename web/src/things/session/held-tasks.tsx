import { PageLink } from '../../links.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { countText } from '../../parts/wording.ts'
import { shortKey } from '../../requests/act-words.ts'
import type { ListedSession } from './use-sessions.ts'

type Held = Pick<ListedSession, 'holds' | 'holding' | 'capacity'>

const SHOWN = 2

/** The tasks a session holds: the first ones, and how many more. */
export function HeldTasks({ holds, holding, capacity }: Held) {
  const room = capacity === null ? null : `${countText(holds)}/${countText(capacity)}`
  if (holds === 0) return <span className="text-faint">{room === null ? 'no task' : `${room}, no task`}</span>
  return (
    <span className="flex min-w-0 items-center gap-2">
      {room !== null && <span className="shrink-0 text-muted tabular-nums">{room}</span>}
      {holding.slice(0, SHOWN).map(({ taskId, key, title, state }) => (
        <PageLink
          className="flex min-w-0 items-center gap-1 hover:text-accent hover:underline"
          key={taskId}
          title={title}
          to={`/tasks/${key ?? taskId}`}
        >
          <StateMark size={14} state={state} />
          <span className="truncate">{key === null ? title : shortKey(key)}</span>
        </PageLink>
      ))}
      {holds > SHOWN && <span className="shrink-0 text-label text-muted">+{countText(holds - SHOWN)}</span>}
    </span>
  )
}
