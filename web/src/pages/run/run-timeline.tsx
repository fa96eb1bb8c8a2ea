import { withBlanks } from '../../../../src/pure/code-words.ts'
import { clockText } from '../../logs/times.ts'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { exactText } from '../../parts/wording.ts'
import { HUE_FILL, HUE_TEXT } from '../../theme/hues.ts'
import { type AnyState, STATE_LOOKS } from '../../theme/marks.ts'
import { statusHue } from '../../theme/status-colours.ts'
import type { RunEvent, useRunEvents } from './use-run.ts'

const LEVELS: Record<string, string> = { error: 'bg-bad', warn: 'bg-ask', info: 'bg-edge' }
const WORDS: Record<RunEvent['type'], string> = {
  lifecycle: 'Run',
  status: 'Says',
  usage: 'Usage',
  error: 'Warning',
  structured: 'Report',
}
const lifecycleWords = (message: string) =>
  message === 'spawned'
    ? 'Its program was started'
    : message in STATE_LOOKS
      ? STATE_LOOKS[message as AnyState].word
      : withBlanks(message)

/** What happens to a run is named by its states. */
const wordsIn = ({ type, message }: RunEvent) =>
  message === null || message === undefined
    ? ''
    : type === 'lifecycle'
      ? lifecycleWords(message)
      : withBlanks(message)

const isEmpty = (payload: unknown) =>
  typeof payload !== 'object' || payload === null || Object.keys(payload).length === 0

/** What happened to the run: starts, messages, flags, ends. */
export function RunTimeline({ events }: { events: ReturnType<typeof useRunEvents> }) {
  const { data, isFetching, readOn } = events
  if (!data) return <Loading className={AROUND} read={events} rows={6} />
  if (data.items.length === 0)
    return (
      <Empty
        drawing="path"
        text="It was never started, or its timeline was removed."
        title="Nothing happened"
      />
    )
  return (
    <div className={AROUND}>
      <ol className="relative border-l border-line">
        {data.items.map((event) => (
          <EventRow event={event} key={event.seq} />
        ))}
      </ol>
      {data.nextCursor !== null && (
        <p className="mt-3 flex items-center gap-3 text-row text-muted">
          These are the first {data.items.length} events.
          <Button busy={isFetching} onClick={readOn} size="small">
            Read on
          </Button>
        </p>
      )}
    </div>
  )
}

const AROUND = 'min-h-0 flex-1 overflow-y-auto px-8 py-4 max-sm:px-5'

function EventRow({ event }: { event: RunEvent }) {
  const at = Date.parse(event.at)
  const hue = statusHue(event.color)
  const words = (
    <>
      <time className="shrink-0 font-mono text-label text-faint" dateTime={event.at} title={exactText(at)}>
        {clockText(at)}
      </time>
      <span className="w-16 shrink-0 text-label text-muted">{WORDS[event.type]}</span>
      <span className={`min-w-0 flex-1 wrap-anywhere ${hue === null ? '' : HUE_TEXT[hue]}`}>
        {wordsIn(event)}
      </span>
    </>
  )
  return (
    <li className="relative pl-4 text-row">
      <span
        className={`absolute top-2.5 -left-1 size-2 rounded-pill ${hue === null ? (LEVELS[event.level ?? 'info'] ?? 'bg-edge') : HUE_FILL[hue]}`}
      />
      {isEmpty(event.payload) ? (
        <div className="flex min-h-7 items-baseline gap-3 py-1">{words}</div>
      ) : (
        <details>
          <summary className="flex min-h-7 items-baseline gap-3 rounded-chip py-1 hover:bg-hover">
            {words}
          </summary>
          <pre className="mb-2 rounded-card border border-line bg-sunken px-3 py-2 font-mono text-row wrap-anywhere whitespace-pre-wrap">
            {JSON.stringify(event.payload, null, 2)}
          </pre>
        </details>
      )}
    </li>
  )
}
