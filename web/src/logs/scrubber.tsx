import { type KeyboardEvent, type PointerEvent, useMemo, useRef, useState } from 'react'
import { bytesText } from '../parts/wording.ts'
import { drawnMarks, type LogMark, type MarkKind } from './marks.ts'

const LOOKS: Record<MarkKind, string> = {
  step: 'left-1.5 w-1 h-px bg-edge',
  stderr: 'left-1.5 w-1.5 h-px bg-ask',
  hit: 'right-0.5 w-2 h-px bg-accent',
  error: 'left-0.5 w-2 h-px bg-bad',
}

interface Props {
  logBytes: number
  /** The part of the log that is in memory. */
  start: number
  end: number
  /** What is being read. */
  eye: number
  marks: readonly LogMark[]
  onJump: (offset: number) => void
}

/** The whole log in the height of the page, by bytes. A click or a drag reads the page at that byte. */
export function Scrubber({ logBytes, start, end, eye, marks, onJump }: Props) {
  const bar = useRef<HTMLDivElement>(null)
  const [dragged, setDragged] = useState<number | null>(null)
  const drawn = useMemo(() => drawnMarks(marks, logBytes), [marks, logBytes])
  if (logBytes === 0) return null
  const share = (bytes: number) => `${Math.min(Math.max(bytes / logBytes, 0), 1) * 100}%`
  const byteAt = ({ clientY }: PointerEvent) => {
    const { top, height } = bar.current!.getBoundingClientRect()
    return Math.round(Math.min(Math.max((clientY - top) / height, 0), 1) * logBytes)
  }
  const place = dragged ?? eye
  const press = (event: KeyboardEvent) => {
    const to = keyTarget(event.key, place, logBytes)
    if (to === null) return
    event.preventDefault()
    onJump(to)
  }
  return (
    <div
      aria-label="Position in the whole log"
      aria-orientation="vertical"
      aria-valuemax={logBytes}
      aria-valuemin={0}
      aria-valuenow={place}
      aria-valuetext={`${bytesText(place)} of ${bytesText(logBytes)}`}
      className="focus-inside relative w-5 shrink-0 cursor-pointer touch-none border-l border-line bg-bg"
      onKeyDown={press}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        setDragged(byteAt(event))
      }}
      onPointerMove={(event) => dragged !== null && setDragged(byteAt(event))}
      onPointerUp={(event) => {
        if (dragged !== null) onJump(byteAt(event))
        setDragged(null)
      }}
      ref={bar}
      role="slider"
      tabIndex={0}
    >
      <div
        className="absolute inset-x-0 bg-hover"
        style={{ top: share(start), height: share(end - start), minHeight: 2 }}
      />
      {drawn.map(({ kind, place: at, count }) => (
        <div
          className={`absolute ${LOOKS[kind]}`}
          key={`${kind}${at}`}
          style={{ top: `${at * 100}%` }}
          title={`${count} × ${kind}`}
        />
      ))}
      <div
        className="pointer-events-none absolute inset-x-0 h-0.5 -translate-y-px bg-ink"
        style={{ top: share(place) }}
      />
      {dragged !== null && (
        <span
          className="pointer-events-none absolute right-full mr-1 -translate-y-1/2 rounded-chip bg-ink px-1.5 py-0.5 text-label whitespace-nowrap text-bg"
          style={{ top: share(dragged) }}
        >
          {bytesText(dragged)}
        </span>
      )}
    </div>
  )
}

function keyTarget(key: string, place: number, logBytes: number): number | null {
  const to = (bytes: number) => Math.round(Math.min(Math.max(bytes, 0), logBytes))
  if (key === 'ArrowDown' || key === 'ArrowRight') return to(place + logBytes / 100)
  if (key === 'ArrowUp' || key === 'ArrowLeft') return to(place - logBytes / 100)
  if (key === 'PageDown') return to(place + logBytes / 10)
  if (key === 'PageUp') return to(place - logBytes / 10)
  if (key === 'Home') return 0
  return key === 'End' ? logBytes : null
}
