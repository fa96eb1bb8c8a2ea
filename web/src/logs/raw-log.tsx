import { useCallback, useMemo, useRef, useState } from 'react'
import { Empty } from '../parts/empty.tsx'
import { ProblemBox } from '../parts/problem.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { toast } from '../parts/toasts.tsx'
import { bytesText, countText } from '../parts/wording.ts'
import { copyLines } from './copy-log.ts'
import { FollowPill } from './follow-pill.tsx'
import { JumpDialog } from './jump-dialog.tsx'
import type { Line } from './lines.ts'
import { LogFeed } from './log-feed.ts'
import { useLogKeys } from './log-keys.ts'
import { LogList, type LogListHandle } from './log-list.tsx'
import { downloadLog, offsetAtTime, readLog } from './log-reads.ts'
import { useLogSearch } from './log-search.ts'
import { type LogSettings, useLogSettings } from './log-settings.ts'
import { LogTools } from './log-tools.tsx'
import { wholeLines } from './log-window.ts'
import { nextPlace } from './marks.ts'
import { Scrubber } from './scrubber.tsx'
import { SearchBox } from './search-box.tsx'
import { clockText, sinceText } from './times.ts'
import { drawLater, useFeed } from './use-feed.ts'
import { useLiveLog } from './use-live-log.ts'
import { useLogPlaces } from './use-log-places.ts'
import { useReading } from './use-reading.ts'

export interface LogRun {
  readonly id: string
  readonly isLive: boolean
  /** When it began, in ms. */
  readonly startedAt: number | null
}

interface Props {
  run: LogRun
  /** The address of a line: in the URL. */
  at: number | null
  onAt: (at: number | null) => void
  query: string
  onQuery: (query: string) => void
}

/** The log of a run as it was written, of any size. */
export function RawLog({ run, at, onAt, query, onQuery }: Props) {
  const settings = useLogSettings()
  const [feed, { window, phase, detail, isTruncated, newLines, error }] = useFeed(
    run.id,
    () => new LogFeed({ read: (wanted) => readLog(run.id, wanted), later: drawLater }),
  )
  useLiveLog(feed, run)
  const lines = useMemo(() => wholeLines(window), [window])
  const list = useRef<LogListHandle>(null)
  const field = useRef<HTMLInputElement>(null)
  const { isFollowing, setFollowing, goTo, follow, eye, look } = useReading(feed, list, lines, at)
  const [isCaseSensitive, setCaseSensitive] = useState(false)
  const search = useLogSearch(run.id, query, isCaseSensitive)
  const { marks, numbers, errors, outline } = useLogPlaces(run.id, lines, search.hits)
  const [isJumping, setJumping] = useState(false)
  const visit = (offset: number | null) => {
    if (offset === null) return
    onAt(offset)
    void goTo(offset)
  }
  const from = at ?? eye ?? 0
  const onHit = (isForward: boolean) => void search.next(from, isForward).then(visit)
  useLogKeys({
    settings,
    onFind: () => field.current?.select(),
    onHit,
    onError: (isForward) => visit(nextPlace(errors, from, isForward)),
    onStart: () => visit(0),
    onEnd: () => {
      onAt(null)
      void follow()
    },
    onJump: () => setJumping(true),
  })
  const highlight = useMemo(
    () => (query === '' ? null : { text: query, isCaseSensitive }),
    [query, isCaseSensitive],
  )
  const timeOf = useTimes(settings, run)
  if (phase === 'unavailable')
    return <Empty drawing="terminal" text={detail ?? 'It was deleted, or is kept elsewhere.'} title="There is no log" />
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 border-b border-line px-6 py-1.5 max-sm:px-4">
        <SearchBox
          current={at !== null && search.hits.includes(at) ? search.hits.indexOf(at) + 1 : null}
          isCaseSensitive={isCaseSensitive}
          onCaseSensitive={setCaseSensitive}
          onLeave={() => list.current?.focus()}
          onStep={onHit}
          onText={onQuery}
          ref={field}
          search={search}
          text={query}
        />
        <p className="ml-auto text-label text-muted">
          {outline?.isComplete ? `${countText(outline.lines)} lines, ` : ''}
          {bytesText(window.logBytes)}
          {isTruncated ? ', the rest was not stored' : ''}
        </p>
        <LogTools
          onCopy={(hasColours) => void copyLines(lines, hasColours)}
          onDownload={() => void download(run.id)}
          onJump={() => setJumping(true)}
          settings={settings}
        />
      </div>
      {error !== null && (
        <div className="px-6 py-2">
          <ProblemBox error={error} onRetry={() => void (phase === 'opening' ? feed.openEnd() : feed.catchUp())} />
        </div>
      )}
      <div className="relative flex min-h-0 flex-1">
        {phase === 'opening' && error === null ? (
          <div className="flex-1 px-6 py-2">
            <Skeleton label="Loading the log" rowHeight={20} rows={12} />
          </div>
        ) : (
          <LogList
            current={at}
            highlight={highlight}
            isFollowing={isFollowing}
            lines={lines}
            numberOf={(_, index) => numbers?.[index] ?? null}
            onAddress={onAt}
            onFollowing={setFollowing}
            onNearEnd={() => void feed.extendAfter()}
            onNearStart={() => void feed.extendBefore()}
            onScrolled={look}
            ref={list}
            settings={settings}
            timeOf={timeOf}
          />
        )}
        <Scrubber
          end={window.end}
          eye={eye ?? window.end}
          logBytes={window.logBytes}
          marks={marks}
          onJump={visit}
          start={window.start}
        />
        <FollowPill
          isFollowing={isFollowing}
          isLive={run.isLive}
          newCount={newLines}
          noun="line"
          onFollow={() => {
            onAt(null)
            void follow()
          }}
        />
      </div>
      <JumpDialog
        logBytes={window.logBytes}
        onClose={() => setJumping(false)}
        onJump={(place) => void ('byte' in place ? visit(place.byte) : offsetAtTime(run.id, place.at, window.logBytes).then(visit))}
        open={isJumping}
        startedAt={run.startedAt}
      />
    </div>
  )
}

/** Times before the lines, as the reader wants them. */
function useTimes({ times }: LogSettings, { startedAt }: LogRun): (line: Line) => string | null {
  return useCallback(
    ({ at }: Line) => {
      if (times === 'off') return null
      if (at === null) return ' '
      return times === 'clock' ? clockText(at) : sinceText(at, startedAt ?? at)
    },
    [times, startedAt],
  )
}

async function download(runId: string): Promise<void> {
  const id = toast({ title: 'Reading the whole log', lastsMs: null })
  try {
    await downloadLog(runId, (share) =>
      toast({ id, title: `Reading the whole log: ${Math.floor(share * 100)} %`, lastsMs: null }),
    )
    toast({ id, kind: 'done', title: 'The log was handed to the browser.' })
  } catch {
    toast({ id, kind: 'bad', title: 'The log could not be read.', text: 'Try again when the server answers.' })
  }
}
