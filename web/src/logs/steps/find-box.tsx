import { useEffect, useRef } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Icon } from '../../parts/icon.tsx'
import { countText } from '../../parts/wording.ts'
import { MOST_STEPS, type TranscriptFeed, type TranscriptFeedState } from '../transcript-feed.ts'

interface Props {
  text: string
  onText: (text: string) => void
  feed: TranscriptFeed
  state: TranscriptFeedState
  /** How many steps have it. */
  found: number
  /** Looks for it in the raw log, all of which the server searches. */
  onFindInLog: (text: string) => void
}

/** Shows only the steps with a text. Earlier steps are read for it, as many as are kept at a time. */
export function FindBox({ text, onText, feed, state, found, onFindInLog }: Props) {
  const field = useRef<HTMLInputElement>(null)
  useShortcuts('Steps', { '/': { words: 'Find in the steps', run: () => field.current?.focus() } })
  const { steps, total } = state
  const isFinding = text.trim() !== ''
  const mayReadMore = isFinding && (steps[0]?.n ?? 1) > 1 && steps.length < MOST_STEPS
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that was read asks for the next
  useEffect(() => {
    if (mayReadMore) void feed.extendBefore()
  }, [feed, mayReadMore, steps])
  const isPartial = isFinding && !mayReadMore && steps.length < total
  return (
    <search className="flex min-w-0 items-center gap-2 max-sm:flex-1">
      <span className="relative min-w-0 flex-1">
        <Icon
          className="pointer-events-none absolute top-1/2 left-2 -translate-y-1/2 text-muted"
          name="search"
          size={14}
        />
        <input
          aria-label="Find in the steps"
          className="h-7 w-48 max-w-full rounded-card border border-edge bg-bg pl-7 text-row hover:border-muted max-sm:h-11 max-sm:w-full max-sm:text-body"
          onChange={(event) => onText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            onText('')
            event.currentTarget.blur()
          }}
          placeholder="Find in the steps"
          ref={field}
          value={text}
        />
      </span>
      <span aria-live="polite" className="text-label whitespace-nowrap text-muted">
        {isFinding ? `${countText(found)} of ${countText(total)}` : ''}
        {isFinding ? '' : `${countText(total)} ${total === 1 ? 'step' : 'steps'}`}
      </span>
      {isPartial && (
        <button
          className="touchable text-label whitespace-nowrap text-accent hover:underline"
          onClick={() => onFindInLog(text.trim())}
          title={`Only ${countText(steps.length)} steps are kept here.`}
          type="button"
        >
          Find in the whole log
        </button>
      )}
    </search>
  )
}
