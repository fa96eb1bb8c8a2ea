import { memo, useEffect, useRef } from 'react'
import { Button } from '../../../parts/button.tsx'
import { Chip } from '../../../parts/chip.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { notesOf, type Roster } from './agent-notes.ts'
import type { PlanProblem } from './plan-problems.ts'
import type { Json } from './plan-value.ts'
import { afterWords, factsOf } from './row-facts.ts'
import type { OutlineActs } from './use-outline-acts.tsx'

/** The head of a step, which stays above its rows. */
const HEAD_PX = 28

/** In the list alone: the page around it stays where it is. */
function scrollWithin(list: HTMLElement, row: HTMLElement): void {
  const [outer, inner] = [list.getBoundingClientRect(), row.getBoundingClientRect()]
  const above = inner.top - outer.top - HEAD_PX
  const below = inner.bottom - outer.bottom
  if (above < 0) list.scrollTop += above
  else if (below > 0) list.scrollTop += below
}

const WHY_LOCKED = 'The YAML cannot be read: mend it first.'

/** All tasks by steps. Arrows go from one to the next; one of them is in the order of Tab. */
export function Outline(props: {
  tasks: readonly Json[]
  steps: readonly (readonly number[])[]
  upstream: readonly (readonly number[])[]
  at: number
  problems: ReadonlyMap<number, readonly PlanProblem[]>
  roster: Roster
  acts: OutlineActs
  isLocked: boolean
  onSelect: (at: number) => void
}) {
  const { tasks, steps, upstream, at, problems, roster, acts, isLocked, onSelect } = props
  const list = useRef<HTMLDivElement>(null)
  // The selected row stays in view, and keeps the focus that was on another row.
  useEffect(() => {
    const row = list.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)
    if (!list.current || !row) return
    if (list.current.contains(document.activeElement)) row.focus({ preventScroll: true })
    scrollWithin(list.current, row)
  }, [at])
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <Tools acts={acts} hasTask={at >= 0} whyNot={isLocked ? WHY_LOCKED : null} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrows come from the rows in it, which are buttons */}
      <div
        className="max-h-[45dvh] overflow-y-auto rounded-card border border-line bg-raised @min-[640px]:max-h-[64dvh]"
        onKeyDown={(event) => {
          const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
          if (by === undefined || event.altKey) return
          event.preventDefault()
          acts.go(by)
        }}
        ref={list}
      >
        {tasks.length === 0 && <p className="p-3 text-row text-muted">It has no tasks yet.</p>}
        {steps.map((places, step) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a step is its number
          <section aria-label={`Step ${step + 1}`} key={step}>
            <h3 className="sticky top-0 z-10 border-b border-line bg-sunken px-3 py-1 text-label font-medium text-muted">
              Step {step + 1}
              {places.length > 1 && `, ${places.length} tasks in parallel`}
            </h3>
            <ul>
              {places.map((place) => {
                const task = tasks[place]!
                return (
                  <OutlineRow
                    {...factsOf(task)}
                    after={afterWords(task, upstream[place]!)}
                    hasNote={notesOf(task, roster).length > 0}
                    isSelected={place === at}
                    key={place}
                    onSelect={onSelect}
                    place={place}
                    problems={problems.get(place)?.length ?? 0}
                  />
                )
              })}
            </ul>
          </section>
        ))}
      </div>
    </div>
  )
}

/** Only rows that changed are drawn again, however many there are. */
const OutlineRow = memo(function OutlineRow(props: {
  place: number
  name: string
  id: string
  who: string
  after: string
  review: string | null
  isOptional: boolean
  problems: number
  hasNote: boolean
  isSelected: boolean
  onSelect: (at: number) => void
}) {
  const { place, name, id, who, after, review, isOptional, problems, hasNote, isSelected, onSelect } = props
  const facts = [who, after, review && `reviewed by ${review}`].filter(Boolean).join(' · ')
  return (
    <li className="[content-visibility:auto] [contain-intrinsic-size:auto_48px]">
      <button
        aria-current={isSelected}
        className={`focus-inside flex w-full min-w-0 items-start gap-2 border-l-2 px-3 py-1.5 text-left hover:bg-hover ${isSelected ? 'border-l-accent bg-hover' : problems > 0 ? 'border-l-bad' : 'border-l-transparent'}`}
        data-at={place}
        onClick={() => onSelect(place)}
        // What has the focus is what keys act on.
        onFocus={() => onSelect(place)}
        tabIndex={isSelected ? 0 : -1}
        title={id}
        type="button"
      >
        <span className="w-6 shrink-0 text-right font-mono text-label leading-5 text-muted">{place + 1}</span>
        <span className="min-w-0 flex-1">
          <span className="flex min-w-0 items-center gap-1.5">
            <span className="min-w-0 truncate text-row font-medium">{name}</span>
            {isOptional && <Chip>optional</Chip>}
          </span>
          <span className="block truncate text-label text-muted">{facts}</span>
        </span>
        {problems > 0 ? (
          <span className="flex shrink-0 items-center gap-1 text-label font-medium text-bad">
            <Icon name="warning" size={14} />
            {problems} {problems === 1 ? 'problem' : 'problems'}
          </span>
        ) : (
          hasNote && (
            <span className="flex shrink-0 items-center text-ask" title="See the note at its agent">
              <Icon name="info" size={14} />
              <span className="sr-only">has a note</span>
            </span>
          )
        )}
      </button>
    </li>
  )
})

function Tools({ acts, hasTask, whyNot }: { acts: OutlineActs; hasTask: boolean; whyNot: string | null }) {
  const none = whyNot ?? (hasTask ? null : 'There is no task.')
  const noWay = none ?? 'It is moved within its step; dependencies decide the rest.'
  return (
    <div className="flex flex-wrap items-center gap-1">
      <Button disabledReason={whyNot} icon="plus" onClick={acts.add} shortcut="n" size="small">
        Add a task
      </Button>
      <span className="ml-auto flex">
        <IconButton
          disabledReason={acts.up ? none : noWay}
          icon="arrow-up"
          label="Move up"
          onClick={() => acts.up?.()}
          shortcut="Alt ↑"
          size="small"
        />
        <IconButton
          disabledReason={acts.down ? none : noWay}
          icon="arrow-down"
          label="Move down"
          onClick={() => acts.down?.()}
          shortcut="Alt ↓"
          size="small"
        />
        <IconButton
          disabledReason={none}
          icon="copy"
          label="Duplicate"
          onClick={acts.copy}
          shortcut="d"
          size="small"
        />
        <IconButton
          disabledReason={none}
          icon="trash"
          label="Remove"
          onClick={acts.remove}
          shortcut="Del"
          size="small"
        />
      </span>
    </div>
  )
}
