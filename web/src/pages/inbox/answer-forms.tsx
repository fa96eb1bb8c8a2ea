import type { FormEvent, KeyboardEvent, RefObject } from 'react'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { countText, moneyText } from '../../parts/wording.ts'
import { useSession } from '../../requests/session.ts'
import type { InboxDetail } from '../../things/inbox/kinds.ts'
import type { Given } from '../../things/inbox/use-answer.ts'
import { answerDraft, budgetDraft } from '../../things/inbox/use-answer.ts'

/** Answers that need words. Ctrl Enter sends them from inside their field. */

interface Props {
  item: InboxDetail
  onAnswer: (given: Given) => void
  form: RefObject<HTMLFormElement | null>
}

const sendWith = (send: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return
  event.preventDefault()
  send()
}

const useRefusal = () => useSession().whyNot('operate')

export function QuestionForm({ item, onAnswer, form }: Props) {
  const options = item.task?.question?.options ?? []
  const { value: answer, set: setAnswer } = useDraft(answerDraft(item), '')
  const refusal = useRefusal() ?? (answer.trim() === '' ? 'Choose or write an answer first.' : null)
  const send = () => refusal === null && onAnswer({ decision: 'answer', answer: answer.trim() })
  return (
    <form
      className="flex flex-col gap-3"
      onKeyDown={sendWith(send)}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        send()
      }}
      ref={form}
    >
      {options.length > 0 ? (
        <fieldset className="flex flex-col gap-1">
          <legend className="mb-1 text-row font-medium">Your answer</legend>
          {options.map((option) => (
            <label
              className="touchable flex cursor-pointer items-start gap-2 rounded-card border border-line px-3 py-2 hover:bg-hover has-checked:border-ink has-checked:bg-hover"
              key={option}
            >
              <input
                checked={answer === option}
                className="mt-0.5 size-4 shrink-0 accent-(--accent)"
                name="answer"
                onChange={() => setAnswer(option)}
                type="radio"
              />
              <span className="min-w-0 break-words">{option}</span>
            </label>
          ))}
        </fieldset>
      ) : (
        <Field label="Your answer">
          <TextInput
            maxLength={20_000}
            onChange={(event) => setAnswer(event.target.value)}
            rows={4}
            value={answer}
          />
        </Field>
      )}
      <div>
        <Button disabledReason={refusal} kind="primary" shortcut="Ctrl Enter" type="submit">
          Send the answer
        </Button>
      </div>
    </form>
  )
}

const DOLLARS = /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/

/** What was spent, and a new limit. */
export function BudgetForm({ item, onAnswer, form }: Props) {
  const { budget, spent: used } = item
  const isInTokens = budget?.maxUsd === undefined && budget?.maxTokens !== undefined
  const spent = isInTokens ? (used?.tokensUsed ?? 0) : Number(used?.costUsd ?? 0)
  const limit = Number((isInTokens ? budget?.maxTokens : budget?.maxUsd) ?? 0)
  const doubled = Math.max(spent, limit) * 2
  const offered = isInTokens ? String(Math.ceil(doubled)) : (doubled === 0 ? 5 : doubled).toFixed(2)
  const { value, set: setValue } = useDraft(budgetDraft(item), offered)
  const words = (amount: number) => (isInTokens ? `${countText(amount)} tokens` : moneyText(amount))
  const isNumber = isInTokens ? /^[1-9]\d{0,14}$/.test(value) : DOLLARS.test(value)
  const problem = !isNumber
    ? isInTokens
      ? 'Write a whole number.'
      : 'Write dollars, such as 7.50.'
    : Number(value) <= spent
      ? `${words(spent)} are spent already: set a higher limit.`
      : null
  const refusal = useRefusal() ?? problem
  const send = () => {
    if (refusal !== null) return
    onAnswer({ decision: 'raise', budget: isInTokens ? { maxTokens: Number(value) } : { maxUsd: value } })
  }
  return (
    <form
      className="flex flex-col gap-4"
      onKeyDown={sendWith(send)}
      onSubmit={(event: FormEvent) => {
        event.preventDefault()
        send()
      }}
      ref={form}
    >
      <div className="flex flex-col gap-2">
        <p className="text-figure font-semibold tabular-nums">
          {words(spent)} <span className="text-title font-normal text-muted">of {words(limit)}</span>
        </p>
        <ProgressBar
          height={6}
          hue="ask"
          label="Spent of the budget"
          percent={limit === 0 ? 100 : (spent / limit) * 100}
        />
      </div>
      <div className="flex flex-wrap items-end gap-2">
        <div className="w-44">
          <Field label={isInTokens ? 'New limit in tokens' : 'New limit in dollars'} problem={problem}>
            <TextInput
              inputMode={isInTokens ? 'numeric' : 'decimal'}
              onChange={(event) => setValue(event.target.value.trim())}
              value={value}
            />
          </Field>
        </div>
        <Button disabledReason={refusal} kind="primary" shortcut="Ctrl Enter" type="submit">
          Raise and continue
        </Button>
      </div>
    </form>
  )
}
