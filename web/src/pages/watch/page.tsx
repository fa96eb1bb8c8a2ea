import { useMutation } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { isLive } from '../../../../src/core/runs/states.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { useNow } from '../../live/hooks.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { explain } from '../../parts/explain.ts'
import { useIsPhone } from '../../parts/media.ts'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import { Tile } from './tile.tsx'
import { useLastLines, useRunningRuns } from './use-wall.ts'
import { columnsFor, shownAt, type WatchedRun } from './wall.ts'

/** As many as one socket follows. */
const TILES_A_PAGE = 16

/** All that runs now, side by side, with its last lines. */
export function Watch() {
  const search = useSearch({ from: '/watch' })
  const { agent, mission, page = 1 } = search
  const go = useGo()
  const { data, error, refetch } = useRunningRuns({ agent, mission })
  const shown = shownAt(data ?? [], useNow())
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
        {error && !data ? (
          <ProblemBox error={error} onRetry={() => void refetch()} />
        ) : !data ? (
          <Skeleton rowHeight={208} rows={2} />
        ) : tiles.length === 0 ? (
          <Empty
            action={<Button onClick={() => go('/agents')}>Wake an agent</Button>}
            drawing="terminal"
            text="While agents work, each has a tile here with its last lines. Those in trouble come first."
            title="Nothing runs now"
          />
        ) : (
          <Wall tiles={tiles} />
        )}
      </div>
    </Page>
  )
}

function Wall({ tiles }: { tiles: readonly WatchedRun[] }) {
  const go = useGo()
  const { can } = useSession()
  const isPhone = useIsPhone()
  const lines = useLastLines(tiles.filter(({ status }) => isLive(status)).map(({ id }) => id))
  const [selected, setSelected] = useState<string | null>(null)
  const [asked, setAsked] = useState<WatchedRun | null>(null)
  const columns = isPhone ? 1 : columnsFor(tiles.length)
  const place = tiles.findIndex(({ id }) => id === selected)
  const chosen = tiles[place]
  const move = (by: number) =>
    setSelected(tiles[Math.min(Math.max(place + by, 0), tiles.length - 1)]?.id ?? null)
  const whyNotStop = can('operate') ? null : 'This needs the right to operate.'
  const stop = useStop()
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
        className="grid auto-rows-fr gap-3"
        style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
      >
        {tiles.map((run) => (
          <Tile
            isSelected={run.id === selected}
            key={run.id}
            lines={lines.get(run.id) ?? []}
            onStop={() => setAsked(run)}
            run={run}
            whyNotStop={whyNotStop}
          />
        ))}
      </div>
      <ConfirmDialog
        confirm="Stop run"
        isDangerous
        onClose={() => setAsked(null)}
        onConfirm={(reason) => asked && stop(asked, reason)}
        open={asked !== null}
        reason="optional"
        text="Its program is ended. Its task waits for a person, who can put it back."
        title={`Stop the run of ${asked?.agent ?? ''}?`}
      />
    </>
  )
}

/** There is no undo: the task waits for a person, who can put it back. */
function useStop(): (run: WatchedRun, reason: string) => void {
  const { mutate } = useMutation({
    mutationFn: ({ run, reason }: { run: WatchedRun; reason: string }) =>
      api().post('/runs/:id/cancel', {
        params: { id: run.id },
        ...(reason === '' ? {} : { body: { reason } }),
      }),
    onSuccess: ({ agent }) => toast({ kind: 'done', title: `The run of ${agent} is being stopped.` }),
    onError: (error) => {
      const { title, detail } = explain(error)
      toast({ kind: 'bad', title, text: detail })
    },
  })
  return (run, reason) => mutate({ run, reason })
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
