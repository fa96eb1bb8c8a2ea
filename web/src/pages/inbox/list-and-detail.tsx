import type { RefObject } from 'react'
import { Button } from '../../parts/button.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { countText } from '../../parts/wording.ts'
import type { InboxItem } from '../../things/inbox/kinds.ts'
import type { Change, Given } from '../../things/inbox/use-answer.ts'
import { Detail } from './detail.tsx'
import { ItemRow } from './item-row.tsx'
import type { Row } from './rows.ts'
import { SelectedBar } from './selected-bar.tsx'

interface Props {
  rows: readonly Row[]
  /** How many were read; with `hasMore` there are others. */
  total: number
  hasMore: boolean
  list: RefObject<HTMLUListElement | null>
  current: string | undefined
  /** The user chose the current one: a phone shows it alone. */
  isOpen: boolean
  checked: ReadonlySet<string>
  change: Change | null
  closedOf: (id: string) => Row['closed']
  check: (id: string) => void
  show: (id: string | undefined, replace?: boolean) => void
  onShow: (id: string) => void
  onAnswer: (item: InboxItem, given: Given) => void
  onAnswerSeveral: (given: Parameters<Parameters<typeof SelectedBar>[0]['onAnswer']>[0]) => void
  onClear: () => void
}

/** What waits on the left, what is asked on the right; one of the two on a phone. */
export function ListAndDetail(props: Props) {
  const { rows, current, checked, show } = props
  const isPhone = useIsPhone()
  const together = rows.filter(({ item, closed }) => checked.has(item.id) && closed === null)
  return (
    <div className="flex min-h-0 flex-1 border-t border-line">
      {!(isPhone && props.isOpen) && (
        <section
          aria-label="What waits"
          className="flex min-h-0 w-[42%] max-w-150 min-w-0 shrink-0 flex-col border-r border-line max-sm:w-full max-sm:border-r-0"
        >
          <ul className="min-h-0 flex-1 overflow-y-auto" ref={props.list}>
            {rows.map((row) => (
              <ItemRow
                isChecked={checked.has(row.item.id)}
                isCurrent={row.item.id === current}
                key={row.item.id}
                onCheck={() => props.check(row.item.id)}
                onOpen={() => show(row.item.id, !isPhone)}
                row={row}
              />
            ))}
            {props.hasMore && (
              <li className="px-4 py-3 text-row text-muted">
                These are the first {countText(props.total)}. The others follow as these are answered.
              </li>
            )}
          </ul>
          <SelectedBar
            items={together.map(({ item }) => item)}
            onAnswer={props.onAnswerSeveral}
            onClear={props.onClear}
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
            change={props.change}
            closed={props.closedOf(current)}
            id={current}
            key={current}
            onAnswer={props.onAnswer}
            onShow={props.onShow}
          />
        </section>
      )}
    </div>
  )
}
