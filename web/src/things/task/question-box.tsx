import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { answerQuestion } from '../../requests/task-decisions.ts'
import { useAct } from '../use-act.ts'
import type { Task } from './use-task.ts'

/** What its agent asks, and the place to answer. The answer is bound to the generation that asked. */
export function QuestionBox({ task }: { task: Task }) {
  const { question } = task
  const { value: text, set: setText, drop } = useDraft(`answer:${task.id}:${question?.generation}`, '')
  const send = useAct(
    (answer: string) => answerQuestion(task.id, answer, question!.generation),
    () => {
      drop()
      return 'Answered. The task is queued again.'
    },
  )
  if (!question) return null
  return (
    <section aria-label="Question" className="flex gap-3 rounded-card border border-line bg-ask-tint p-4">
      <Icon className="mt-0.5 text-ask" name="help" />
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        <p className="text-row font-medium text-ask">
          {question.askedBy} asks, <Moment at={question.askedAt} />
        </p>
        <Markdown text={question.question} />
        {question.options.length > 0 ? (
          <div className="flex flex-wrap gap-2">
            {question.options.map((option) => (
              <Button
                busy={send.isBusy}
                className="max-w-full"
                disabledReason={send.whyNot}
                key={option}
                onClick={() => send.run(option)}
              >
                <span className="truncate">{option}</span>
              </Button>
            ))}
          </div>
        ) : (
          <form
            className="flex flex-col gap-2"
            onSubmit={(event) => {
              event.preventDefault()
              if (text.trim() !== '' && !send.whyNot && !send.isBusy) send.run(text.trim())
            }}
          >
            <Field label="Your answer">
              <TextInput
                onChange={(event) => setText(event.target.value)}
                onKeyDown={(event) => {
                  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat)
                    event.currentTarget.form?.requestSubmit()
                }}
                rows={3}
                value={text}
              />
            </Field>
            <span>
              <Button
                busy={send.isBusy}
                disabledReason={send.whyNot ?? (text.trim() === '' ? 'An answer is needed.' : null)}
                kind="primary"
                shortcut="Ctrl Enter"
                type="submit"
              >
                Answer
              </Button>
            </span>
          </form>
        )}
      </div>
    </section>
  )
}
