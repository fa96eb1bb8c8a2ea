import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { BOARD_COLUMNS } from '../../../../src/views/board/columns.ts'
import { FILTER_NAMES } from '../../../../src/views/board/filter.ts'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { useBoard } from '../../live/hooks.ts'
import { Button } from '../../parts/button.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { countText } from '../../parts/wording.ts'
import { TaskBeside } from '../../things/task/beside.tsx'
import { useBoardActs } from './acts-context.ts'
import { BoardActsProvider } from './acts-provider.tsx'
import { BulkBar } from './bulk-bar.tsx'
import { CardMenu } from './card-menu.tsx'
import { Desk, DeskContext } from './desk.ts'
import { DisplayMenu } from './display-menu.tsx'
import { FilterBar, Filters } from './filters.tsx'
import { Kanban } from './kanban.tsx'
import { TaskList } from './list.tsx'
import { NoTasks } from './no-tasks.tsx'
import {
  type BoardSearch,
  type BoardView,
  boardAt,
  type FilterChange,
  filterIn,
  isFiltered,
  onlyValue,
} from './search.ts'
import { useSaveCsv } from './use-save-csv.ts'
import { ViewsMenu } from './views-menu.tsx'

// Loaded when it is opened.
const NewTask = lazy(() => import('./new-task.tsx').then(({ NewTask: form }) => ({ default: form })))

/** All tasks of the workspace by state: a kanban or a list. */
export function Board() {
  const search = useSearch({ from: '/board' })
  const [desk] = useState(() => new Desk())
  return (
    <DeskContext value={desk}>
      <BoardActsProvider>
        <BoardPage desk={desk} search={search} />
      </BoardActsProvider>
    </DeskContext>
  )
}

function BoardPage({ search, desk }: { search: BoardSearch; desk: Desk }) {
  const go = useGo()
  const { forbidden } = useBoardActs()
  const filter = filterIn(search)
  const board = useBoard(filter)
  const count = BOARD_COLUMNS.reduce((sum, name) => sum + board.column(name).count, 0)
  const change = (next: Parameters<typeof boardAt>[1]) => go(boardAt(search, next))
  const openNew = () => change({ new: 'task' })
  useShortcuts('Board', { 'c t': { words: 'New task', run: openNew } })
  // The selection belongs to the cards that are shown.
  const shown = useMemo(() => JSON.stringify(filter), [filter])
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is the reason
  useEffect(() => desk.clearSelection(), [desk, shown])
  const noFilter = Object.fromEntries(FILTER_NAMES.map((name) => [name, undefined]))
  const filterBy = (next: FilterChange) => go(boardAt(search, next), { replace: 'q' in next })
  const { save, isSaving } = useSaveCsv(board, search, count)
  return (
    <Page
      actions={
        <>
          {board.status === 'ready' && (
            <span
              className="text-row whitespace-nowrap text-muted tabular-nums @max-[700px]:sr-only"
              data-count
            >
              {countText(count)} {count === 1 ? 'task' : 'tasks'}
            </span>
          )}
          <ViewSwitch onChange={(view) => change({ view })} view={search.view ?? 'kanban'} />
          <DisplayMenu isSaving={isSaving} onChange={change} onSave={save} search={search} />
          <Button disabledReason={forbidden} icon="plus" kind="primary" onClick={openNew} size="small">
            <span className="sm:@max-[560px]:sr-only">New task</span>
          </Button>
        </>
      }
      filters={
        <>
          <Filters onChange={filterBy} search={search} />
          <ViewsMenu search={search} />
        </>
      }
      hasOneLineHead
      isFull
      panel={search.task && <TaskBeside id={search.task} onClose={() => change({ task: undefined })} />}
      title="Board"
    >
      <FilterBar onChange={filterBy} search={search} />
      {board.status === 'failed' ? (
        <div className="px-6">
          <ProblemBox error={board.error} onRetry={board.retry} />
        </div>
      ) : board.status === 'loading' ? (
        <Loading />
      ) : count === 0 ? (
        <NoTasks isFiltered={isFiltered(search)} onClear={() => change(noFilter)} onNew={openNew} />
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col">
          {search.view === 'list' ? (
            <TaskList board={board} search={search} />
          ) : (
            <Kanban board={board} search={search} />
          )}
          <BulkBar />
        </div>
      )}
      <CardMenu linkTo={(task) => new URL(`${location.pathname}?task=${task}`, location.href).href} />
      {search.new && (
        <Suspense fallback={null}>
          <NewTask onClose={() => change({ new: undefined })} project={onlyValue(search, 'project')} />
        </Suspense>
      )}
    </Page>
  )
}

function ViewSwitch({
  view,
  onChange,
}: {
  view: BoardView
  onChange: (view: BoardView | undefined) => void
}) {
  return (
    <Segmented
      label="View"
      onChange={(next) => onChange(next === 'kanban' ? undefined : next)}
      options={[
        { value: 'kanban', words: 'Kanban' },
        { value: 'list', words: 'List' },
      ]}
      value={view}
    />
  )
}

/** Columns of cards that are not known yet. */
function Loading() {
  const isPhone = useIsPhone()
  const columns = isPhone ? BOARD_COLUMNS.slice(0, 1) : BOARD_COLUMNS
  return (
    <div className="flex gap-1 px-4 pt-9 max-sm:pt-0">
      {columns.map((name) => (
        <div className="flex min-w-50 flex-1 basis-74 flex-col gap-2 px-2 py-2 sm:max-w-96" key={name}>
          <Skeleton className="h-21" />
          <Skeleton className="h-21" />
          <Skeleton className="h-21" />
        </div>
      ))}
    </div>
  )
}
