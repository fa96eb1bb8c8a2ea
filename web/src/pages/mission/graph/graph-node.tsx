import { memo } from 'react'
import type { TaskState } from '../../../../../src/pure/states.ts'
import { cutText, leftOf, NODE_HEIGHT, NODE_WIDTH, topOf } from '../../../graphs/geometry.ts'
import type { Place } from '../../../graphs/layers.ts'
import { useCard } from '../../../live/hooks.ts'
import { useClockWhileConnected } from '../../../parts/clock.ts'
import { MarkPaths } from '../../../parts/state-mark.tsx'
import { durationText, spentText } from '../../../parts/wording.ts'
import { HUE_TEXT } from '../../../theme/hues.ts'
import { STATE_LOOKS } from '../../../theme/marks.ts'
import { shortName } from '../../../things/task/card-words.ts'
import { isAdded, type TaskNode } from '../task-rows.ts'

const TITLE_LETTERS = 29
const NAME_LETTERS = 200
/** The part of a node that text may take, as a clip path of the drawing. */
export const TEXT_CLIP = 'graph-node-text'

interface Props {
  node: TaskNode
  place: Place
  /** The one that Tab leads to, of all. */
  isCurrent: boolean
  isOnPath: boolean
  isDim: boolean
  /** Beside the page. */
  isOpen: boolean
  address: string
  onOpen: (id: string) => void
  onFocus: (id: string) => void
}

/** One task: its state as shape, colour and word, its name, who does it, how far it is, what it cost. */
export const GraphNode = memo(function GraphNode(props: Props) {
  // The tasks of a plan have no cards.
  return props.node.state === null ? (
    <Shape
      {...props}
      agent={props.node.agent}
      cost={null}
      isSimulated={false}
      name={props.node.id}
      now={null}
      state={null}
    />
  ) : (
    <LiveNode {...props} />
  )
})

function LiveNode(props: Props) {
  const { node } = props
  const card = useCard(node.id)
  const state = card?.state ?? node.state
  const isRunning = state === 'running' || state === 'continuing'
  return (
    <Shape
      {...props}
      agent={card ? (card.holder?.agent ?? card.agent ?? node.agent) : node.agent}
      cost={card?.costUsd ?? node.costUsd}
      isSimulated={card?.isSimulated ?? node.isSimulated}
      name={shortName(node.id, card)}
      now={isRunning && card ? { percent: card.percent, since: card.stateSince } : null}
      state={state}
    />
  )
}

function Shape(
  props: Props & {
    name: string
    state: TaskState | null
    agent: string | null
    cost: string | null
    isSimulated: boolean
    now: { percent: number | null; since: number } | null
  },
) {
  const { node, place, isCurrent, isOnPath, isDim, isOpen, address, onOpen, onFocus } = props
  const { name, state, agent, cost, isSimulated, now } = props
  const look = state === null ? null : STATE_LOOKS[state]
  const tone = look ? HUE_TEXT[look.hue] : 'text-muted'
  const facts = [agent, cost !== null && Number(cost) > 0 ? spentText(cost, isSimulated) : null].filter(
    Boolean,
  )
  const percent = now?.percent == null ? null : `${Math.round(now.percent)} %`
  const said = [`${name} ${cutText(node.title, NAME_LETTERS)}`, look?.word, percent, ...facts].filter(Boolean)
  return (
    <g transform={`translate(${leftOf(place)} ${topOf(place)})`}>
      <a
        aria-label={said.join(', ')}
        className={`group outline-none ${isDim ? 'opacity-25' : ''}`}
        data-task={node.id}
        href={address}
        onClick={(event) => {
          if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
          event.preventDefault()
          onOpen(node.id)
        }}
        onFocus={() => onFocus(node.id)}
        tabIndex={isCurrent ? 0 : -1}
      >
        <title>{node.title}</title>
        <rect
          className="fill-none stroke-accent opacity-0 group-focus-visible:opacity-100"
          height={NODE_HEIGHT + 8}
          rx={9}
          strokeWidth={2}
          width={NODE_WIDTH + 8}
          x={-4}
          y={-4}
        />
        <rect
          className={`${isOpen ? 'fill-hover' : 'fill-raised'} ${look?.hue === 'bad' || look?.hue === 'ask' ? `stroke-current ${tone}` : isOnPath ? 'stroke-ink' : 'stroke-edge'} group-hover:fill-hover`}
          height={NODE_HEIGHT}
          rx={6}
          strokeWidth={isOnPath ? 2 : 1}
          width={NODE_WIDTH}
        />
        {state && (
          <g className={tone} strokeLinecap="round" strokeLinejoin="round" transform="translate(10 8)">
            <MarkPaths state={state} />
          </g>
        )}
        <g clipPath={`url(#${TEXT_CLIP})`}>
          <text className="fill-muted font-mono text-label" x={state ? 32 : 10} y={20}>
            {cutText(name, 16)}
          </text>
          <text className="fill-ink text-row font-medium" x={10} y={38}>
            {cutText(node.title, TITLE_LETTERS)}
          </text>
          <text className="fill-muted text-label" x={10} y={54}>
            {cutText(facts.join(' · '), TITLE_LETTERS)}
          </text>
        </g>
        <text
          className={`text-label tabular-nums ${tone}`}
          fill="currentColor"
          textAnchor="end"
          x={NODE_WIDTH - 10}
          y={20}
        >
          {percent ?? (now === null && look?.word)}
          {now && (
            <>
              {percent && ' · '}
              <Clock since={now.since} />
            </>
          )}
        </text>
        {isAdded(node) && (
          <text
            className={`text-label font-medium ${HUE_TEXT.held}`}
            fill="currentColor"
            textAnchor="end"
            x={NODE_WIDTH - 10}
            y={54}
          >
            added
          </text>
        )}
      </a>
    </g>
  )
}

function Clock({ since }: { since: number }) {
  const ms = Math.max(0, useClockWhileConnected(1_000) - since)
  return durationText(Math.floor(ms / 1_000) * 1_000)
}
