import { useCallback, useEffect, useRef } from 'react'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { HUE_TEXT } from '../../theme/hues.ts'
import { type AnyState, STATE_LOOKS, statePhrase } from '../../theme/marks.ts'
import { blocksWords, headline, type InboxDetail, type InboxItem, lookOf } from '../../things/inbox/kinds.ts'
import { type Change, type Given, seenKey } from '../../things/inbox/use-answer.ts'
import { AnswerBar } from './answer-bar.tsx'
import { QuestionForm } from './answer-forms.tsx'
import { BudgetForm } from './budget-form.tsx'
import { type Closed, closedWords } from './rows.ts'
import { Origin, Subject } from './subject.tsx'
import { useInboxItem } from './use-inbox.ts'

const GUARD_MS = 300

/** An item takes answers only a moment after it was shown: a key that was meant for the previous one does nothing. */
function useGuard(key: string): () => boolean {
  const shownAt = useRef(Number.POSITIVE_INFINITY)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the moment starts again with each item
  useEffect(() => {
    shownAt.current = performance.now()
  }, [key])
  return useCallback(() => performance.now() - shownAt.current >= GUARD_MS, [])
}

export function Detail(props: {
  id: string
  closed: Closed | null
  change: Change | null
  onAnswer: (item: InboxItem, given: Given) => void
  onShow: (id: string) => void
}) {
  const { id, closed, change, onAnswer, onShow } = props
  const read = useInboxItem(id)
  const { data, error } = read
  const isGone = (error as { status?: number } | null)?.status === 404
  if (isGone)
    return (
      <>
        {change && <Changed change={change} id={id} onShow={onShow} />}
        <Empty
          drawing="handover"
          text={closed ? closedWords(closed) : 'It was answered, or continued without an answer.'}
          title="This is no longer waiting"
        />
      </>
    )
  if (error || !data) return <Loading className="p-6" read={read} rows={6} />
  return (
    <>
      {change && <Changed change={change} id={id} onShow={onShow} />}
      <Shown closed={closed} item={data} key={data.id} onAnswer={onAnswer} />
    </>
  )
}

function Shown(props: {
  item: InboxDetail
  closed: Closed | null
  onAnswer: (item: InboxItem, given: Given) => void
}) {
  const { item, closed, onAnswer } = props
  const isReady = useGuard(seenKey(item))
  const form = useRef<HTMLFormElement>(null)
  const { words, icon, hue } = lookOf(item)
  const answer = (given: Given) => {
    if (isReady()) onAnswer(item, given)
  }
  const focusForm = () => form.current?.querySelector<HTMLElement>('textarea, input:checked, input')?.focus()
  return (
    <article aria-label={headline(item)} className="flex flex-col gap-5 p-6 max-sm:p-4">
      <header className="flex flex-col gap-1">
        <p className={`flex items-center gap-1.5 text-label font-medium ${HUE_TEXT[hue]}`}>
          <Icon name={icon} size={14} /> {words}
          {item.kind !== 'finished' && (
            <span className="font-normal text-muted">· {blocksWords(item.blocks)}</span>
          )}
          {item.expiresAt && (
            <span className="font-normal text-muted">
              · expires <Moment at={item.expiresAt} />
            </span>
          )}
        </p>
        <h2 className="text-title font-semibold break-words">
          {item.kind === 'question' ? item.title : headline(item)}
        </h2>
        <Origin item={item} />
      </header>
      <Subject item={item} />
      {closed ? (
        <p className="text-row text-muted">{closedWords(closed)}</p>
      ) : (
        <div className="bottom-0 -mx-6 -mb-6 flex flex-col gap-4 border-t border-line bg-bg px-6 py-4 max-sm:-mx-4 max-sm:-mb-4 max-sm:px-4 [@media(height>=600px)]:sticky">
          {item.actions.includes('answer') && <QuestionForm form={form} item={item} onAnswer={answer} />}
          {item.actions.includes('raise') && <BudgetForm form={form} item={item} onAnswer={answer} />}
          <AnswerBar isReady={isReady} item={item} onAnswer={answer} onFocusForm={focusForm} />
        </div>
      )}
    </article>
  )
}

/** What was seen of it, or what it is by now. */
const short = ({ kind, generation, about }: InboxItem) =>
  generation === null || about.budgetId !== null
    ? 'it as it was'
    : kind === 'plan'
      ? `version ${generation} of the plan`
      : `attempt ${generation}`

/** Two results of the same attempt have no names of their own. */
function changedWords(seen: InboxItem, now: InboxItem | null, state: string): string {
  const is = state in STATE_LOOKS ? ` It is ${statePhrase(state as AnyState)}.` : ''
  if (!now) return `You saw ${short(seen)}. Nothing is waiting there now.${is}`
  const other = short(now) === short(seen) ? 'something else' : short(now)
  return `You saw ${short(seen)}. Now ${other} is waiting.${is}`
}

/** The answer was for something that no longer exists, so it was not given. */
function Changed(props: { change: Change; id: string; onShow: (id: string) => void }) {
  const { change, id, onShow } = props
  const { seen, now, state } = change
  return (
    <div className="m-6 mb-0 flex gap-3 rounded-card bg-ask-tint p-4 text-ask" role="alert">
      <Icon className="mt-0.5" name="warning" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">It changed while you were reading, so nothing was decided.</p>
        <p className="mt-0.5 text-row">{changedWords(seen, now, state)}</p>
        {now && now.id !== id && (
          <Button className="mt-3" onClick={() => onShow(now.id)} size="small">
            Show the current one
          </Button>
        )}
      </div>
    </div>
  )
}
