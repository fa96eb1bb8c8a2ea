import { useMemo } from 'react'
import { PageLink } from '../../../links.tsx'
import { useCard } from '../../../live/hooks.ts'
import { AgentChip } from '../../../parts/agent-chip.tsx'
import { Empty } from '../../../parts/empty.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Loading } from '../../../parts/loaded.tsx'
import { LongMarkdown } from '../../../parts/long-markdown.tsx'
import { Moment } from '../../../parts/moment.tsx'
import { Segmented } from '../../../parts/segmented.tsx'
import { VirtualList } from '../../../parts/virtual-list.tsx'
import { clockText } from '../../../parts/wording.ts'
import { HUE_TEXT } from '../../../theme/hues.ts'
import { shortName } from '../../../things/task/card-words.ts'
import { FILTERS, type Filter } from '../views.ts'
import { type Part, THE_TASK } from './parts.ts'
import { type ActivityRow, rowsOf } from './rows.ts'
import { useActivity } from './use-activity.ts'

const FILTER_WORDS: Record<Filter, string> = {
  all: 'All',
  problems: 'Problems',
  people: 'People',
  tasks: 'Tasks',
  plan: 'Plan and mission',
}
const NOTHING: Record<Filter, string> = {
  all: 'Nothing has happened yet.',
  problems: 'There was no problem.',
  people: 'No person has decided or said anything.',
  tasks: 'No task has begun.',
  plan: 'There is no plan yet.',
}

/** What happened to the mission, in words, the newest first. */
export function Activity(props: {
  id: string
  /** Its agents are simulated: so is what it cost. */
  isSimulated: boolean
  filter: Filter
  onFilter: (filter: Filter) => void
  addressOf: (task: string) => string
}) {
  const { id, isSimulated, filter, onFilter, addressOf } = props
  const { read, log, loadMore } = useActivity(id, filter)
  const rows = useMemo(() => rowsOf(filter, log?.events ?? [], isSimulated), [filter, log, isSimulated])
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div>
        <Segmented
          label="What is shown"
          onChange={onFilter}
          options={FILTERS.map((value) => ({ value, words: FILTER_WORDS[value] }))}
          value={filter}
        />
      </div>
      {!log ? (
        <Loading read={read} rows={6} />
      ) : rows.length === 0 ? (
        <Empty
          drawing="path"
          text={
            filter === 'all' ? 'What is planned, decided and done is told here as it happens.' : undefined
          }
          title={NOTHING[filter]}
        />
      ) : (
        <div className="flex h-[max(22rem,calc(100dvh-24rem))] min-h-0 flex-col">
          <VirtualList
            isMeasured
            items={rows}
            keyOf={({ seq }) => seq}
            label="Activity of the mission"
            onNearEnd={loadMore}
            render={(row) => <ActivityLine addressOf={addressOf} row={row} />}
            rowHeight={36}
          />
        </div>
      )}
    </div>
  )
}

function ActivityLine({ row, addressOf }: { row: ActivityRow; addressOf: (task: string) => string }) {
  const { icon, hue, parts, quote, error, at, run, task } = row
  const time = Date.parse(at)
  return (
    <div className="flex items-start gap-2.5 border-b border-line px-1 py-1.5 text-row">
      <Icon className={`mt-0.5 shrink-0 ${hue ? HUE_TEXT[hue] : 'text-muted'}`} name={icon} size={14} />
      <div className="min-w-0 flex-1">
        <p className="break-words">
          {parts.map((part, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one sentence never move
            <Piece addressOf={addressOf} key={place} part={part} task={task} />
          ))}
          {run !== null && (
            <>
              {' '}
              <PageLink className="text-accent underline underline-offset-2" to={`/runs/${run}`}>
                Open the run
              </PageLink>
            </>
          )}
        </p>
        {quote && (
          <div className="mt-0.5 max-w-prose text-muted">
            <LongMarkdown text={quote} />
          </div>
        )}
        {error && <p className="mt-0.5 line-clamp-3 break-words whitespace-pre-wrap text-muted">{error}</p>}
      </div>
      <span className="flex shrink-0 gap-2 text-muted tabular-nums">
        <span className="text-faint @max-[600px]:hidden">{clockText(time)}</span>
        <Moment at={time} />
      </span>
    </div>
  )
}

function Piece(props: { part: Part; task: string | null; addressOf: (task: string) => string }) {
  const { part, task, addressOf } = props
  if (typeof part === 'string') return <>{part}</>
  if (part === THE_TASK) return task === null ? 'a task' : <TaskName address={addressOf(task)} id={task} />
  if ('person' in part) return <span className="font-medium">{part.person}</span>
  if ('agent' in part)
    return (
      <PageLink
        className="inline-flex align-bottom hover:underline"
        to={`/agents/${encodeURIComponent(part.agent)}`}
      >
        <AgentChip size={16} slug={part.agent} />
      </PageLink>
    )
  return null
}

/** "#1042 Fix the login form". */
function TaskName({ id, address }: { id: string; address: string }) {
  const card = useCard(id)
  return (
    <PageLink className="font-medium hover:text-accent hover:underline" to={address}>
      <span className="font-mono text-label text-muted">{shortName(id, card)}</span>
      {card && ` ${card.title.length > 160 ? `${card.title.slice(0, 160).toWellFormed()}…` : card.title}`}
    </PageLink>
  )
}
