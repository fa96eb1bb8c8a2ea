import type { FormEvent, KeyboardEvent, RefObject } from 'react'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { useSession } from '../../requests/session.ts'
import type { InboxDetail } from '../../things/inbox/kinds.ts'
import type { Given } from '../../things/inbox/use-answer.ts'
import { answerDraft } from '../../things/inbox/use-answer.ts'

/** Answers that need words. Ctrl Enter sends them from inside their field. */

export interface FormProps {
  item: InboxDetail
  onAnswer: (given: Given) => void
  form: RefObject<HTMLFormElement | null>
}

export const sendWith = (send: () => void) => (event: KeyboardEvent) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return
  event.preventDefault()
  send()
}

export const useRefusal = () => useSession().whyNot('operate')

export function QuestionForm({ item, onAnswer, form }: FormProps) {
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
