import { useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { countText } from '../../parts/wording.ts'
import { writeSearch } from '../../search-params.ts'
import { Detail } from './detail.tsx'
import { ItemRow } from './item-row.tsx'
import { KindTabs } from './kind-tabs.tsx'
import { type InboxItem, KINDS } from './kinds.ts'
import { NothingWaits } from './nothing-waits.tsx'
import { type Row, rowAfter } from './rows.ts'
import { SelectedBar } from './selected-bar.tsx'
import { type Change, type Given, seenKey, useAnswer } from './use-answer.ts'
import { useInbox } from './use-inbox.ts'

/** Everything that waits for a person, answered where it is read. */
export function Inbox() {
  const search = useSearch({ from: '/inbox' })
  const { kind, item: chosen, sort = 'blocks' } = search
  const go = useGo()
  const isPhone = useIsPhone()
  const list = useRef<HTMLUListElement>(null)
  const inbox = useInbox(sort)
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const [change, setChange] = useState<Change | null>(null)
  const show = (id: string | undefined, replace = true) => {
    go(`/inbox${writeSearch({ ...search, item: id })}`, { replace })
    if (id)
      list.current?.querySelector(`[data-item="${CSS.escape(id)}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  const refused = (item: InboxItem, next: Change | null) => {
    setChange(next)
    show(item.id)
  }
  const { answer, answerSeveral, sent } = useAnswer(refused)
  const rows = inbox.rows.filter(
    ({ item }) => !sent.has(seenKey(item)) && (kind === undefined || KINDS[item.kind].tab === kind),
  )
  const current = chosen ?? (isPhone ? undefined : rows[0]?.item.id)
  const give = (item: InboxItem, given: Given) => {
    setChange(null)
    answer({ item, given })
    show(isPhone ? undefined : (rowAfter(rows, item.id) ?? undefined))
  }
  const check = (id: string) =>
    setChecked((before) => {
      const next = new Set(before)
      if (!next.delete(id)) next.add(id)
      return next
    })
  useListKeys({ rows, current, show, check })
  const together = rows.filter(({ item, closed }) => checked.has(item.id) && closed === null)
  const body = () => {
    if (inbox.error && inbox.rows.length === 0)
      return (
        <div className="p-6">
          <ProblemBox error={inbox.error} onRetry={() => void inbox.refetch()} />
        </div>
      )
    if (inbox.isPending)
      return (
        <div className="p-6">
          <Skeleton rowHeight={60} rows={6} />
        </div>
      )
    if (rows.length === 0 && chosen === undefined)
      return <NothingWaits isFiltered={kind !== undefined && inbox.total !== 0} />
    return (
      <div className="flex min-h-0 flex-1 border-t border-line">
        {!(isPhone && chosen) && (
          <section
            aria-label="What waits"
            className="flex min-h-0 w-[42%] max-w-150 min-w-0 shrink-0 flex-col border-r border-line max-sm:w-full max-sm:border-r-0"
          >
            <ul className="min-h-0 flex-1 overflow-y-auto" ref={list}>
              {rows.map((row) => (
                <ItemRow
                  isChecked={checked.has(row.item.id)}
                  isCurrent={row.item.id === current}
                  key={row.item.id}
                  onCheck={() => check(row.item.id)}
                  onOpen={() => show(row.item.id, !isPhone)}
                  row={row}
                />
              ))}
              {inbox.hasMore && (
                <li className="px-4 py-3 text-row text-muted">
                  These are the first {countText(inbox.rows.length)}. The others follow as these are answered.
                </li>
              )}
            </ul>
            <SelectedBar
              items={together.map(({ item }) => item)}
              onAnswer={(given) => {
                answerSeveral(given)
                setChecked(new Set())
              }}
              onClear={() => setChecked(new Set())}
            />
          </section>
        )}
        {current && (
          <section aria-label="What is asked" className="min-h-0 min-w-0 flex-1 overflow-y-auto bg-bg">
            {isPhone && (
              <Button className="m-2" icon="arrow-left" kind="quiet" onClick={() => show(undefined)}>
                All that waits
              </Button>
            )}
            <Detail
              change={change}
              closed={rows.find(({ item }) => item.id === current)?.closed ?? null}
              id={current}
              key={current}
              onAnswer={give}
              onShow={(id) => {
                setChange(null)
                show(id)
              }}
            />
          </section>
        )}
      </div>
    )
  }
  const tabs = (
    <KindTabs
      counts={inbox.data?.counts}
      kind={kind}
      onChange={(next) => go(`/inbox${writeSearch({ ...search, kind: next, item: undefined })}`)}
    />
  )
  return (
    <Page
      actions={
        <Segmented
          label="Order"
          onChange={(next) =>
            go(`/inbox${writeSearch({ ...search, sort: next === 'blocks' ? undefined : next })}`)
          }
          options={[
            { value: 'blocks', words: 'Blocks most' },
            { value: 'oldest', words: 'Oldest' },
          ]}
          value={sort}
        />
      }
      filters={isPhone ? null : tabs}
      isFull
      title="Inbox"
    >
      {isPhone && !chosen && <div className="px-2 pb-2">{tabs}</div>}
      {body()}
    </Page>
  )
}

function useListKeys(props: {
  rows: readonly Row[]
  current: string | undefined
  show: (id: string) => void
  check: (id: string) => void
}) {
  const { rows, current, show, check } = props
  const move = (by: number) => {
    const place = rows.findIndex(({ item }) => item.id === current)
    const next = rows[Math.min(Math.max(place + by, 0), rows.length - 1)]
    if (next) show(next.item.id)
  }
  useShortcuts('Inbox', {
    j: { words: 'Next', run: () => move(1), repeats: true },
    k: { words: 'Previous', run: () => move(-1), repeats: true },
    x: {
      words: 'Select, to answer several at once',
      run: () => current && check(current),
      isOff: current === undefined,
    },
  })
}
