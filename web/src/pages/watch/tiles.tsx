import { useCallback, useState } from 'react'
import { isLive } from '../../../../src/kinds/run/states.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { useNow } from '../../live/hooks.ts'
import { useIsPhone } from '../../parts/media.ts'
import { useSession } from '../../requests/session.ts'
import { AskStop } from '../../things/run/ask-stop.tsx'
import { Tile } from './tile.tsx'
import { useTails } from './use-tails.ts'
import { columnsFor, shownAt, type WatchedRun } from './wall.ts'

/** The tiles of one page of the wall: those with a problem first, then the oldest. */
export function Tiles({ runs }: { runs: readonly WatchedRun[] }) {
  const go = useGo()
  const { whyNot } = useSession()
  const isPhone = useIsPhone()
  const tails = useTails(runs)
  const tiles = shownAt(runs, useNow(), (id) => tails.get(id))
  const [selected, setSelected] = useState<string | null>(null)
  const [asked, setAsked] = useState<WatchedRun | null>(null)
  const columns = isPhone ? 1 : columnsFor(tiles.length)
  const place = tiles.findIndex(({ run }) => run.id === selected)
  const chosen = tiles[place]?.run
  const move = (by: number) => {
    const id = tiles[Math.min(Math.max(place === -1 ? 0 : place + by, 0), tiles.length - 1)]?.run.id
    if (id === undefined) return
    setSelected(id)
    document.querySelector(`[data-run="${id}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  const select = useCallback(({ id }: WatchedRun) => setSelected(id), [])
  const whyNotStop = whyNot('operate')
  useShortcuts('Watch', {
    ArrowRight: { words: 'Next tile', run: () => move(1), repeats: true },
    ArrowLeft: { words: 'Previous tile', run: () => move(-1), repeats: true },
    ArrowDown: { words: 'Tile below', run: () => move(columns), repeats: true },
    ArrowUp: { words: 'Tile above', run: () => move(-columns), repeats: true },
    Enter: { words: 'Open the run', run: () => chosen && go(`/runs/${chosen.id}`), isOff: !chosen },
    s: {
      words: 'Stop the run',
      run: () => chosen && setAsked(chosen),
      isOff: !chosen || !isLive(chosen.status) || whyNotStop !== null,
    },
  })
  return (
    <>
      <div
        className={`grid gap-3 ${tiles.length === 1 ? 'h-full' : ''}`}
        style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
      >
        {tiles.map(({ run, trouble }) => (
          <Tile
            isAlone={tiles.length === 1}
            isSelected={run.id === selected}
            key={run.id}
            lines={tails.get(run.id)?.lines}
            onSelect={select}
            onStop={setAsked}
            run={run}
            trouble={trouble?.words ?? null}
            troubleKind={trouble?.kind ?? null}
            whyNotStop={whyNotStop}
          />
        ))}
      </div>
      {asked && <AskStop onClose={() => setAsked(null)} run={asked} />}
    </>
  )
}
