import { type CSSProperties, type Ref, useCallback, useImperativeHandle, useRef, useState } from 'react'
import { AnchoredList, type AnchoredListHandle } from './anchored-list.tsx'
import { type Line, lineAt } from './lines.ts'
import { type Highlight, LogLine } from './log-line.tsx'
import type { LogSettings } from './log-settings.ts'

export interface LogListHandle {
  /** Brings the line of this byte into view; false: it is not here. */
  showByte: (offset: number) => boolean
  showEnd: () => void
  /** The address of the first line in view. */
  firstInView: () => number | null
  focus: () => void
}

interface Props {
  lines: readonly Line[]
  settings: LogSettings
  /** The numbers of the lines; null: not known yet. */
  numbers: Int32Array | null
  timeOf: (line: Line) => string | null
  isFull: boolean
  /** The address that was gone to. */
  current: number | null
  highlight: Highlight | null
  isFollowing: boolean
  onFollowing: (isFollowing: boolean) => void
  onNearStart: () => void
  onNearEnd: () => void
  onScrolled: () => void
  onAddress: (offset: number) => void
  ref: Ref<LogListHandle>
}

const NEAR_LINES = 400
const keyOf = (line: Line) => line.offset

const hasByte = ({ offset, bytes }: Line, byte: number | null) =>
  byte !== null && byte >= offset && byte < offset + bytes

/** The lines of a window, only those in view as elements. */
export function LogList(props: Props) {
  const { lines, numbers, settings, onAddress, ref } = props
  const list = useRef<AnchoredListHandle>(null)
  const [whole, setWhole] = useState<ReadonlySet<number>>(new Set())
  const linePx = Math.round(settings.fontPx * 1.54)
  useImperativeHandle(ref, () => ({
    showByte: (offset) => {
      const index = lineAt(lines, offset)
      const line = lines[index]
      if (!line || !hasByte(line, offset)) return false
      list.current?.showIndex(index)
      return true
    },
    showEnd: () => list.current?.showEnd(),
    firstInView: () => lines[list.current?.firstInView() ?? -1]?.offset ?? null,
    focus: () => list.current?.focus(),
  }))
  const digits = String(numbers?.at(-1) ?? 1).length
  const style = {
    fontSize: settings.fontPx,
    lineHeight: `${linePx}px`,
    '--log-gutter': `${digits}ch`,
  } as CSSProperties
  const showWhole = useCallback((offset: number) => setWhole((before) => new Set([...before, offset])), [])
  return (
    <AnchoredList
      className="bg-sunken font-mono"
      heights={`${settings.isWrapped} ${settings.fontPx} ${settings.times}`}
      isFollowing={props.isFollowing}
      isFull={props.isFull}
      isWide={!settings.isWrapped}
      items={lines}
      keyOf={keyOf}
      label="Log"
      nearRows={NEAR_LINES}
      onFollowing={props.onFollowing}
      onNearEnd={props.onNearEnd}
      onNearStart={props.onNearStart}
      onScrolled={props.onScrolled}
      ref={list}
      render={(line, index) => (
        <LogLine
          highlight={props.highlight}
          isCurrent={hasByte(line, props.current)}
          isWhole={whole.has(line.offset)}
          isWrapped={settings.isWrapped}
          line={line}
          number={numbers?.[index] ?? null}
          onAddress={onAddress}
          onShowWhole={showWhole}
          time={props.timeOf(line)}
        />
      )}
      rowPx={linePx}
      style={style}
    />
  )
}
