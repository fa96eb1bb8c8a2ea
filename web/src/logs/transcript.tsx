import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react'
import { Empty } from '../parts/empty.tsx'
import { ProblemBox } from '../parts/problem.tsx'
import { ProgressBar } from '../parts/progress-bar.tsx'
import { Segmented } from '../parts/segmented.tsx'
import { api } from '../requests/api.ts'
import { AnchoredList, type AnchoredListHandle } from './anchored-list.tsx'
import type { Excerpts } from './excerpt.tsx'
import { FollowPill } from './follow-pill.tsx'
import { GoneLog, UnreadLog } from './gone-log.tsx'
import { LogBar } from './log-bar.tsx'
import { readLog } from './log-reads.ts'
import { ExcerptSteps } from './steps/excerpt-steps.tsx'
import { FindBox } from './steps/find-box.tsx'
import { foldedSteps, type StepFilter, type StepRow } from './steps/fold.ts'
import { StepRowView } from './steps/step-row.tsx'
import { MOST_STEPS, TranscriptFeed, type TranscriptFeedState } from './transcript-feed.ts'
import { useEnd, useFailureFirst, useOpenRows, useStepKeys } from './transcript-state.ts'
import { drawLater, useFeed } from './use-feed.ts'
import { useLiveLog } from './use-live-log.ts'
import type { LogRun } from './use-raw-log.ts'

const FILTERS: { value: StepFilter; words: string }[] = [
  { value: 'all', words: 'All' },
  { value: 'failed', words: 'Failed' },
  { value: 'calls', words: 'Calls' },
]
const NEAR_ROWS = 30
const ROW_PX = 37
/** A row this near the end is in view there anyway. */
const IN_VIEW_AT_END = 4
const keyOf = (row: StepRow) => row.key

const newFeed = (runId: string) =>
  new TranscriptFeed({
    readSteps: (wanted) => api().get('/runs/:id/transcript', { params: { id: runId }, query: wanted }),
    readLog: (wanted) => readLog(runId, wanted),
    later: drawLater,
  })

interface Props {
  run: LogRun
  /** The switch to other views, first in the bar. */
  views: ReactNode
  adapterType: string
  /** The beginning and the end of its output, shown until the steps are read, and when its log is gone. */
  excerpts: Excerpts
  /** Tokens of the whole run: each row shows its share. */
  tokensOfRun: number
  /** Then what failed is shown first, not the end. */
  endedBadly: boolean
  /** Shows this byte in the raw log. */
  onRaw: (offset: number) => void
  /** Looks for a text in the raw log. */
  onFindInLog: (text: string) => void
}

/** What the agent did, one line a step. */
export function Transcript(props: Props) {
  const { run, views, adapterType, excerpts, tokensOfRun, endedBadly, onRaw, onFindInLog } = props
  const [feed, state] = useFeed(run.id, () => newFeed(run.id))
  useLiveLog(feed, run)
  const list = useRef<AnchoredListHandle>(null)
  const [filter, setFilter] = useState<StepFilter>('all')
  const [find, setFind] = useState('')
  const rows = useMemo(
    () => foldedSteps(state.steps, filter, run.isLive, find),
    [state.steps, filter, run.isLive, find],
  )
  const { isFollowing, setFollowing, follow } = useEnd(feed, list)
  const { isOpen, toggle, toggleAll } = useOpenRows(rows)
  const [selected, setSelected] = useState<number | null>(null)
  useFailureFirst(endedBadly && state.phase === 'ready', rows, (index) => {
    setSelected(rows[index]!.key)
    if (rows.length - index <= IN_VIEW_AT_END) return
    setFollowing(false)
    list.current?.showIndex(index)
  })
  const moves = { rows, selected, onSelect: setSelected, toggle, toggleAll, list }
  useStepKeys({ ...moves, filter, onFilter: setFilter, onEnd: () => void follow() })
  const extendAfter = useCallback(() => void feed.extendAfter(), [feed])
  const extendBefore = useCallback(() => void feed.extendBefore(), [feed])
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <LogBar views={views}>
        <FindBox
          feed={feed}
          found={rows.reduce((sum, row) => sum + row.steps.length, 0)}
          onFindInLog={onFindInLog}
          onText={setFind}
          state={state}
          text={find}
        />
        <Segmented label="Which steps" onChange={setFilter} options={FILTERS} value={filter} />
      </LogBar>
      <Notices onRetry={() => void feed.openEnd()} state={state} />
      <div className="relative flex min-h-0 flex-1">
        {state.phase === 'opening' && state.steps.length === 0 && state.error === null ? (
          <ExcerptSteps adapterType={adapterType} excerpts={excerpts} />
        ) : rows.length === 0 ? (
          <Nothing excerpts={excerpts} filter={filter} find={find} isLive={run.isLive} state={state} />
        ) : (
          <AnchoredList
            heights=""
            isFollowing={isFollowing}
            isFull={state.steps.length >= MOST_STEPS}
            items={rows}
            keyOf={keyOf}
            label="Steps"
            nearRows={NEAR_ROWS}
            onFollowing={setFollowing}
            onNearEnd={extendAfter}
            onNearStart={extendBefore}
            ref={list}
            render={(row) => (
              <StepRowView
                isOpen={isOpen(row)}
                isSelected={row.key === selected}
                onRaw={onRaw}
                onSelect={setSelected}
                onToggle={toggle}
                row={row}
                tokensOfRun={tokensOfRun}
              />
            )}
            rowPx={ROW_PX}
          />
        )}
        <FollowPill
          isFollowing={isFollowing}
          isLive={run.isLive}
          newCount={state.newSteps}
          noun="step"
          onFollow={() => void follow()}
        />
      </div>
    </div>
  )
}

/** What is not a step: a failed read, or how far a large log was read. */
function Notices({ state, onRetry }: { state: TranscriptFeedState; onRetry: () => void }) {
  if (state.error !== null)
    return (
      <div className="px-6 py-2">
        <ProblemBox error={state.error} onRetry={onRetry} />
      </div>
    )
  if (state.phase !== 'opening' || state.readShare === 0) return null
  return (
    <div className="px-6 py-2 text-label text-muted">
      Reading a large log
      <ProgressBar label="Read of the log" percent={state.readShare * 100} />
    </div>
  )
}

interface NothingProps {
  excerpts: Excerpts
  filter: StepFilter
  find: string
  isLive: boolean
  state: TranscriptFeedState
}

function Nothing({ excerpts, filter, find, isLive, state }: NothingProps) {
  if (state.error !== null) return <UnreadLog excerpts={excerpts} />
  if (state.phase === 'unavailable')
    return <GoneLog detail={state.detail} excerpts={excerpts} title="There is no transcript" />
  if (find.trim() !== '') return <Empty drawing="path" title={`No step has “${find.trim()}”`} />
  if (filter === 'failed') return <Empty drawing="path" title="No step failed" />
  if (filter === 'calls') return <Empty drawing="path" title="No tool was called" />
  return (
    <Empty
      drawing="path"
      text={isLive ? 'Its first step appears here as soon as it is written.' : 'The agent wrote nothing.'}
      title={isLive ? 'Nothing yet' : 'No steps'}
    />
  )
}
