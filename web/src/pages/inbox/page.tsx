import { useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { Page } from '../../parts/page.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { writeSearch } from '../../search-params.ts'
import { type InboxItem, KINDS } from '../../things/inbox/kinds.ts'
import { type Change, type Given, seenKey, useAnswer } from '../../things/inbox/use-answer.ts'
import { KindTabs } from './kind-tabs.tsx'
import { ListAndDetail } from './list-and-detail.tsx'
import { NothingWaits } from './nothing-waits.tsx'
import { CLOSED_UNSEEN, type Row, rowAfter } from './rows.ts'
import { useInbox } from './use-inbox.ts'

/** Everything that waits for a person, answered where it is read. */
export function Inbox() {
  const search = useSearch({ from: '/inbox' })
  const { kind, item: chosen, sort = 'blocks' } = search
  const go = useGo()
  const isPhone = useIsPhone()
  const list = useRef<HTMLUListElement>(null)
  const inbox = useInbox(sort, kind === 'finished' ? kind : undefined)
  const [checked, setChecked] = useState<ReadonlySet<string>>(new Set())
  const [change, setChange] = useState<Change | null>(null)
  const show = (id: string | undefined, replace = true) => {
    go(`/inbox${writeSearch({ ...search, item: id })}`, { replace })
    if (id)
      list.current?.querySelector(`[data-item="${CSS.escape(id)}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  const refused = (item: InboxItem, next: Change | null) => {
    setChange(next)
    // What waits there now, below the notice.
    show(next?.now?.id ?? item.id)
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
  const check = (id: string) => setChecked((before) => toggled(before, id))
  useListKeys({ rows, current, show, check })
  const closedOf = (id: string) => {
    const row = inbox.rows.find(({ item }) => item.id === id)
    // An item that is missing from a complete list no longer waits.
    return row ? row.closed : inbox.hasMore ? null : CLOSED_UNSEEN
  }
  const body = () => {
    if ((inbox.error && inbox.rows.length === 0) || inbox.isPending)
      return <Loading className="p-6" read={inbox} rowHeight={60} rows={6} />
    if (rows.length === 0 && chosen === undefined)
      return <NothingWaits kind={inbox.total === 0 ? undefined : kind} />
    return (
      <ListAndDetail
        change={change}
        check={check}
        checked={checked}
        closedOf={closedOf}
        current={current}
        hasMore={inbox.hasMore}
        isOpen={chosen !== undefined}
        list={list}
        onAnswer={give}
        onAnswerSeveral={(given) => {
          answerSeveral(given)
          setChecked(new Set())
        }}
        onClear={() => setChecked(new Set())}
        onShow={(id) => {
          setChange(null)
          show(id)
        }}
        rows={rows}
        show={show}
        total={inbox.rows.length}
      />
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

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(ids)
  if (!next.delete(id)) next.add(id)
  return next
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
