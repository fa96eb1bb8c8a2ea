import type { ReactNode } from 'react'
import type { Shown } from '../live/freshness.ts'
import { useFreshness } from '../live/hooks.ts'
import { Countdown } from '../parts/countdown.tsx'
import { Tooltip } from '../parts/tooltip.tsx'
import { clockText, countText, durationText } from '../parts/wording.ts'
import { HUE_TEXT } from '../theme/hues.ts'
import type { Hue } from '../theme/marks.ts'

interface Look {
  sign: string
  hue: Hue
  words: ReactNode
  /** The whole sentence, on hover and for screen readers. */
  says: string
}

function lookOf({ freshness, asOf, lagMs }: Shown): Look {
  const seen = asOf === null ? '' : ` This page shows ${clockText(asOf)}.`
  switch (freshness.kind) {
    case 'live':
      return {
        sign: '●',
        hue: 'done',
        words: lagMs === null ? 'live' : `live ${durationText(Math.max(lagMs, 100))}`,
        says: 'Everything shown is up to date.',
      }
    case 'polling':
      return {
        sign: '●',
        hue: 'ask',
        words: 'every 2 s',
        says: 'WebSockets are blocked on this network, so changes are read every two seconds.',
      }
    case 'late':
      return {
        sign: '↻',
        hue: 'ask',
        words: (
          <>
            retrying in <Countdown due="a moment" to={freshness.at} />
          </>
        ),
        says: 'Part of this page is out of date: the server did not answer. It is read again automatically.',
      }
    case 'catching_up':
      return {
        sign: '◔',
        hue: 'go',
        words: freshness.behind > 0 ? `catching up ${countText(freshness.behind)}` : 'connecting',
        says: 'Reading the latest changes.',
      }
    case 'again':
      return {
        sign: '↻',
        hue: 'ask',
        words: (
          <>
            reconnecting in <Countdown due="a moment" to={freshness.at} />
          </>
        ),
        says: `The connection was lost. Reconnecting automatically.${seen}`,
      }
    case 'offline':
      return {
        sign: '○',
        hue: 'wait',
        words: `offline since ${clockText(freshness.since, 'minute')}`,
        says: `You are offline. You can keep reading; actions are refused until you are back.${seen}`,
      }
    case 'signed_out':
      return { sign: '○', hue: 'wait', words: 'signed out', says: 'Your session has ended.' }
  }
}

/** How fresh the page is, always. */
export function LivePill() {
  const shown = useFreshness()
  const { sign, hue, words, says } = lookOf(shown)
  return (
    <Tooltip side="bottom" text={says}>
      <button
        className="touchable inline-flex h-7 items-center gap-1.5 rounded-pill px-2 text-label font-medium whitespace-nowrap text-muted hover:bg-hover"
        type="button"
      >
        <span aria-hidden="true" className={HUE_TEXT[hue]}>
          {sign}
        </span>
        <span className={shown.freshness.kind === 'live' ? 'max-sm:sr-only' : ''} role="status">
          {words}
        </span>
      </button>
    </Tooltip>
  )
}
