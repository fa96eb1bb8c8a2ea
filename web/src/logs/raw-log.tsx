import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react'
import { ProblemBox } from '../parts/problem.tsx'
import { bytesText, countText } from '../parts/wording.ts'
import { copyLines, saveLog } from './copy-log.ts'
import { Excerpt, type Excerpts } from './excerpt.tsx'
import { FollowPill } from './follow-pill.tsx'
import { GoneLog, UnreadLog } from './gone-log.tsx'
import { JumpDialog } from './jump-dialog.tsx'
import type { Line } from './lines.ts'
import { LogBar } from './log-bar.tsx'
import { useLogKeys } from './log-keys.ts'
import { LogList } from './log-list.tsx'
import { type LogSettings, useLogSettings } from './log-settings.ts'
import { LogTools } from './log-tools.tsx'
import { MOST_PAGES } from './log-window.ts'
import { Scrubber } from './scrubber.tsx'
import { SearchBox } from './search-box.tsx'
import { clockText, sinceText } from './times.ts'
import { type LogAddress, type LogRun, type RawLogState, useRawLog } from './use-raw-log.ts'

interface Props extends LogAddress {
  run: LogRun
  /** The switch to other views, first in the bar. */
  views: ReactNode
  /** The beginning and the end of its output, shown until the log is read, and when it is gone. */
  excerpts: Excerpts
}

/** The log of a run as it was written, of any size. */
export function RawLog(props: Props) {
  const { run, excerpts } = props
  const settings = useLogSettings()
  const log = useRawLog(run, props)
  const [isJumping, setJumping] = useState(false)
  const jump = () => setJumping(true)
  if (log.phase === 'unavailable')
    return (
      <>
        <LogBar views={props.views} />
        <GoneLog detail={log.detail} excerpts={excerpts} title="There is no log" />
      </>
    )
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <RawLogBar {...props} log={log} onJump={jump} settings={settings} />
      {log.error !== null && (
        <div className="px-6 py-2">
          <ProblemBox
            error={log.error}
            onRetry={() => void (log.phase === 'opening' ? log.feed.openEnd() : log.feed.catchUp())}
          />
        </div>
      )}
      <div className="relative flex min-h-0 flex-1">
        {log.phase === 'opening' ? (
          log.error === null ? (
            <Excerpt excerpts={excerpts} label="Loading the log" />
          ) : (
            <UnreadLog excerpts={excerpts} />
          )
        ) : (
          <RawLogLines {...props} log={log} settings={settings} />
        )}
        <Scrubber
          end={log.window.end}
          eye={log.eye ?? log.window.end}
          logBytes={log.window.logBytes}
          marks={log.marks}
          onJump={log.visit}
          start={log.window.start}
        />
        <FollowPill
          isFollowing={log.isFollowing}
          isLive={run.isLive}
          newCount={log.newLines}
          noun="line"
          onFollow={log.toEnd}
        />
      </div>
      <JumpDialog
        logBytes={log.window.logBytes}
        onClose={() => setJumping(false)}
        onJump={log.toPlace}
        open={isJumping}
        startedAt={run.startedAt}
      />
    </div>
  )
}

interface PartProps extends Props {
  log: RawLogState
  settings: LogSettings
}

function RawLogBar({
  run,
  views,
  at,
  query,
  onQuery,
  log,
  settings,
  onJump,
}: PartProps & { onJump: () => void }) {
  const field = useRef<HTMLInputElement>(null)
  const [isFinding, setFinding] = useState(false)
  const { search, lineCount, window } = log
  useLogKeys({
    settings,
    isFinding,
    onFind: () => field.current?.select(),
    onHit: log.toHit,
    onError: log.toError,
    onStart: () => log.visit(0),
    onEnd: log.toEnd,
    onJump,
  })
  return (
    <LogBar views={views}>
      <p className="text-label text-muted max-sm:hidden">
        {lineCount === null ? '' : `${countText(lineCount)} lines, `}
        {bytesText(window.logBytes)}
        {log.isTruncated ? ', the rest was not stored' : ''}
      </p>
      <SearchBox
        current={at !== null && search.hits.includes(at) ? search.hits.indexOf(at) + 1 : null}
        isCaseSensitive={log.isCaseSensitive}
        onCaseSensitive={log.setCaseSensitive}
        onFinding={setFinding}
        onLeave={() => log.list.current?.focus()}
        onStep={log.toHit}
        onText={onQuery}
        ref={field}
        search={search}
        text={query}
      />
      <LogTools
        onCopy={(hasColours) => void copyLines(log.lines, hasColours)}
        onDownload={() => void saveLog(run.id)}
        onJump={onJump}
        settings={settings}
      />
    </LogBar>
  )
}

function RawLogLines({ run, at, onAt, query, log, settings }: PartProps) {
  const { feed, isCaseSensitive } = log
  const highlight = useMemo(
    () => (query === '' ? null : { text: query, isCaseSensitive }),
    [query, isCaseSensitive],
  )
  const { startedAt } = run
  const { times } = settings
  const timeOf = useCallback(
    ({ at: written }: Line) => {
      if (times === 'off') return null
      if (written === null) return ' '
      return times === 'clock' ? clockText(written) : sinceText(written, startedAt ?? written)
    },
    [times, startedAt],
  )
  return (
    <LogList
      current={at}
      highlight={highlight}
      isFollowing={log.isFollowing}
      isFull={log.window.pages.length >= MOST_PAGES}
      lines={log.lines}
      numbers={log.numbers}
      onAddress={onAt}
      onFollowing={log.setFollowing}
      onNearEnd={useCallback(() => void feed.extendAfter(), [feed])}
      onNearStart={useCallback(() => void feed.extendBefore(), [feed])}
      onScrolled={log.look}
      ref={log.list}
      settings={settings}
      timeOf={timeOf}
    />
  )
}
