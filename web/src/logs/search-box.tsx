import { type Ref, useEffect, useId, useRef, useState } from 'react'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { countText } from '../parts/wording.ts'
import type { LogSearch } from './log-search.ts'

interface Props {
  text: string
  onText: (text: string) => void
  isCaseSensitive: boolean
  onCaseSensitive: (isCaseSensitive: boolean) => void
  search: LogSearch
  /** Which of the hits is shown, from 1; null: none. */
  current: number | null
  onStep: (isForward: boolean) => void
  /** Whether the field has the focus. */
  onFinding: (isFinding: boolean) => void
  onLeave: () => void
  ref: Ref<HTMLInputElement>
}

/** Finds text in the whole log. Enter goes to the next hit, Shift Enter to the previous one, Esc returns to the lines. */
export function SearchBox(props: Props) {
  const { text, onText, isCaseSensitive, onCaseSensitive, onStep, onLeave, ref } = props
  const countId = useId()
  // Its own while it is typed into: the address follows later, and what was typed before it did would be lost.
  const [typed, setTyped] = useState(text)
  const hasFocus = useRef(false)
  useEffect(() => {
    if (!hasFocus.current) setTyped(text)
  }, [text])
  return (
    <search className="flex min-w-0 items-center gap-1 max-sm:w-full">
      <div className="relative min-w-0 flex-1">
        <Icon
          className="pointer-events-none absolute top-1/2 left-2 -translate-y-1/2 text-muted"
          name="search"
          size={14}
        />
        <input
          aria-describedby={countId}
          aria-label="Find in the log"
          className="h-7 w-72 max-w-full rounded-card border border-edge bg-bg pr-24 pl-7 text-row hover:border-muted max-sm:h-11 max-sm:w-full max-sm:text-body [&::-webkit-search-cancel-button]:hidden"
          onChange={(event) => {
            setTyped(event.target.value)
            onText(event.target.value)
          }}
          onBlur={() => {
            hasFocus.current = false
            props.onFinding(false)
          }}
          onFocus={() => {
            hasFocus.current = true
            props.onFinding(true)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onStep(!event.shiftKey)
            if (event.key === 'Escape') onLeave()
          }}
          placeholder="Find"
          ref={ref}
          spellCheck={false}
          type="search"
          value={typed}
        />
        <span
          aria-live="polite"
          className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2 bg-bg pl-1 text-label text-muted"
          id={countId}
        >
          {countOf(props)}
        </span>
      </div>
      <button
        aria-label="Match case"
        aria-pressed={isCaseSensitive}
        className="touchable size-7 shrink-0 max-sm:hidden rounded-card text-label font-semibold text-muted hover:bg-hover hover:text-ink aria-pressed:bg-hover aria-pressed:text-ink aria-pressed:ring-1 aria-pressed:ring-edge"
        onClick={() => onCaseSensitive(!isCaseSensitive)}
        title="Match case"
        type="button"
      >
        Aa
      </button>
      <IconButton
        icon="chevron-up"
        label="Previous hit"
        onClick={() => onStep(false)}
        shortcut="Shift+n"
        size="small"
      />
      <IconButton
        icon="chevron-down"
        label="Next hit"
        onClick={() => onStep(true)}
        shortcut="n"
        size="small"
      />
    </search>
  )
}

function countOf({ text, search, current }: Props): string {
  if (text === '') return ''
  if (search.error) return 'not searched'
  if (search.total === null) return 'searches'
  const total = countText(search.total)
  if (!search.isComplete) return `${total} in ${Math.floor(search.readShare * 100)} %`
  if (search.total === 0) return 'none'
  return current === null
    ? `${total} ${search.total === 1 ? 'hit' : 'hits'}`
    : `${countText(current)} of ${total}`
}
