import { useSearch } from '@tanstack/react-router'
import { useGo } from '../../links.tsx'
import { useNow } from '../../live/hooks.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { writeSearch } from '../../search-params.ts'
import { Tiles } from './tiles.tsx'
import { useRunningRuns } from './use-running-runs.ts'
import { shownAt } from './wall.ts'

/** Tiles on a page: as many runs as one socket follows. */
const TILES_A_PAGE = 16

/** All that runs now, side by side, with its last lines. */
export function Watch() {
  const search = useSearch({ from: '/watch' })
  const { agent, mission, page = 1 } = search
  const go = useGo()
  const read = useRunningRuns({ agent, mission })
  const { data } = read
  const shown = shownAt(data ?? [], useNow(), () => undefined).map(({ run }) => run)
  const pages = Math.max(Math.ceil(shown.length / TILES_A_PAGE), 1)
  const current = Math.min(Math.max(page, 1), pages)
  const tiles = shown.slice((current - 1) * TILES_A_PAGE, current * TILES_A_PAGE)
  const show = (change: Partial<typeof search>) => go(`/watch${writeSearch({ ...search, ...change })}`)
  return (
    <Page
      actions={pages > 1 && <Pages current={current} onShow={(next) => show({ page: next })} pages={pages} />}
      filters={
        <>
          {agent && <Chip onRemove={() => show({ agent: undefined })}>agent: {agent}</Chip>}
          {mission && <Chip onRemove={() => show({ mission: undefined })}>one mission</Chip>}
        </>
      }
      isFull
      title="Watch"
    >
      <div
        className="min-h-0 flex-1 overflow-y-auto px-6 pt-1 pb-6 max-sm:px-4"
        data-scroll-restoration-id="wall"
      >
        {!data ? (
          <Loading read={read} rowHeight={272} rows={2} />
        ) : tiles.length === 0 ? (
          <Empty
            action={<Button onClick={() => go('/agents')}>Wake an agent</Button>}
            drawing="terminal"
            text="Each running agent gets a tile with its latest output. Those in trouble come first."
            title="Nothing is running"
          />
        ) : (
          <Tiles runs={tiles} />
        )}
      </div>
    </Page>
  )
}

function Pages(props: { current: number; pages: number; onShow: (page: number) => void }) {
  const { current, pages, onShow } = props
  return (
    <>
      <span className="text-row text-muted tabular-nums">
        {current} of {pages}
      </span>
      <Button
        disabledReason={current === 1 ? 'This is the first page.' : null}
        onClick={() => onShow(current - 1)}
        size="small"
      >
        Previous
      </Button>
      <Button
        disabledReason={current === pages ? 'This is the last page.' : null}
        onClick={() => onShow(current + 1)}
        size="small"
      >
        Next
      </Button>
    </>
  )
}
