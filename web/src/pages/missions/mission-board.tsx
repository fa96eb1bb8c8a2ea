import { useRef, useState } from 'react'
import { besideCursor } from '../../keys/beside-cursor.ts'
import { elementOfCard, focusCard } from '../../keys/focus-card.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { Segmented } from '../../parts/segmented.tsx'
import { VirtualList, type VirtualListHandle } from '../../parts/virtual-list.tsx'
import { countText } from '../../parts/wording.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import type { ListedMission } from '../../things/mission/progress.tsx'
import {
  columnsOf,
  MISSION_COLUMN_WORDS,
  type MissionColumn,
  type MissionColumnView,
  missionColumnLabel,
} from './columns.ts'
import { CARD_PX, MissionCard } from './mission-card.tsx'

const GAP_PX = 8

/** What runs first: a phone should not open with an empty column. */
const firstOnPhone = (columns: readonly MissionColumnView[]): MissionColumn =>
  (['running', 'pending', 'paused', 'terminal'] as const).find((wanted) =>
    columns.some(({ name, missions }) => name === wanted && missions.length > 0),
  ) ?? 'running'

/** Missions in columns by what their state means; on a phone one column at a time. */
export function MissionBoard({ missions }: { missions: readonly ListedMission[] }) {
  const columns = columnsOf(missions)
  const isPhone = useIsPhone()
  const [chosen, choose] = useState(() => firstOnPhone(columns))
  const [cursor, setCursor] = useState<string | null>(null)
  const lists = useRef(new Map<MissionColumn, VirtualListHandle>())
  const shown = isPhone ? columns.filter(({ name }) => name === chosen) : columns
  useBoardKeys({
    columns: shown,
    cursor,
    setCursor,
    scrollTo: (name, place) => lists.current.get(name)?.scrollToIndex(place),
  })
  return (
    <>
      {isPhone && (
        <div className="px-4 pb-2">
          <Segmented
            label="Column"
            onChange={choose}
            options={columns.map(({ name, missions: within }) => ({
              value: name,
              words: `${MISSION_COLUMN_WORDS[name]} ${countText(within.length)}`,
            }))}
            value={chosen}
          />
        </div>
      )}
      <div className="flex min-h-0 flex-1 gap-1 overflow-x-auto px-4 max-sm:px-2">
        {shown.map((column) => (
          <Column
            column={column}
            cursor={cursor}
            key={column.name}
            onCursor={setCursor}
            ref={(handle) => {
              if (handle) lists.current.set(column.name, handle)
              else lists.current.delete(column.name)
            }}
          />
        ))}
      </div>
    </>
  )
}

interface ColumnProps {
  column: MissionColumnView
  cursor: string | null
  onCursor: (id: string) => void
  ref: React.Ref<VirtualListHandle>
}

function Column({ column, cursor, onCursor, ref }: ColumnProps) {
  const { name, missions, main, apart } = column
  return (
    <section
      aria-label={missionColumnLabel(column)}
      className="flex min-h-0 min-w-50 flex-1 basis-74 flex-col sm:max-w-96"
    >
      <div
        className={`flex h-9 min-w-0 shrink-0 items-center gap-2 overflow-hidden px-3 text-label whitespace-nowrap max-sm:h-7 ${apart.length === 0 ? 'max-sm:hidden' : ''}`}
      >
        <h2 className="flex shrink-0 gap-2 font-semibold tracking-wide text-muted uppercase max-sm:sr-only">
          {MISSION_COLUMN_WORDS[name]}
          <span className="font-medium text-faint tabular-nums">{countText(main)}</span>
        </h2>
        {apart.map(({ words, hue }) => (
          <span
            className={`min-w-0 truncate tabular-nums ${hue === 'wait' ? 'text-muted' : HUE_TEXT[hue]}`}
            key={words}
          >
            {words}
          </span>
        ))}
      </div>
      {missions.length === 0 ? (
        <p className="px-3 py-2 text-label text-faint">{EMPTY_WORDS[name]}</p>
      ) : (
        <VirtualList
          className="px-2"
          gap={GAP_PX}
          items={missions}
          keyOf={({ id }) => id}
          label={MISSION_COLUMN_WORDS[name]}
          padding={GAP_PX}
          ref={ref}
          render={(mission) => (
            <MissionCard isCursor={mission.id === cursor} mission={mission} onCursor={onCursor} />
          )}
          rowHeight={CARD_PX}
        />
      )}
    </section>
  )
}

const EMPTY_WORDS = {
  pending: 'Nothing is being planned.',
  running: 'Nothing is running.',
  paused: 'Nothing is paused.',
  terminal: 'Nothing is done yet.',
} as const satisfies Record<MissionColumn, string>

/** Keys of the cards: letters and arrows move. */
function useBoardKeys(given: {
  columns: readonly MissionColumnView[]
  cursor: string | null
  setCursor: (id: string) => void
  scrollTo: (name: MissionColumn, place: number) => void
}): void {
  const { columns, cursor, setCursor, scrollTo } = given
  const go = useGo()
  const move = (rows: number, sideways: number) => () => {
    const places = columns.map(({ name, missions }) => ({ name, ids: missions.map(({ id }) => id) }))
    const next = besideCursor(places, cursor, rows, sideways)
    if (!next) return
    setCursor(next.id)
    scrollTo(next.column, next.place)
    elementOfCard(next.id)?.closest('section')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    focusCard(next.id)
  }
  const next = { words: 'Next mission', run: move(1, 0), repeats: true }
  const previous = { words: 'Previous mission', run: move(-1, 0), repeats: true }
  const right = { words: 'Column on the right', run: move(0, 1), repeats: true }
  const left = { words: 'Column on the left', run: move(0, -1), repeats: true }
  useShortcuts('Board of missions', {
    j: next,
    k: previous,
    l: right,
    h: left,
    ArrowDown: next,
    ArrowUp: previous,
    ArrowRight: right,
    ArrowLeft: left,
    Enter: {
      words: 'Open the mission',
      run: () => cursor !== null && go(`/missions/${cursor}`),
      isOff: cursor === null,
    },
  })
}
