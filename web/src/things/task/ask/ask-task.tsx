import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { useDraft } from '../../../parts/drafts.ts'
import { Field } from '../../../parts/field.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import { spentText } from '../../../parts/wording.ts'
import { completeByHand, setBudget } from '../../../requests/task-decisions.ts'
import { useAct } from '../../use-act.ts'
import { shortName } from '../task-heading.tsx'
import type { ShownTask, Task } from '../use-task.ts'

/** What is asked on the page of a task alone: its budget, and a result by hand. */

interface Props {
  task: Task
  now: ShownTask
  onClose: () => void
}

const isAmount = (text: string) => /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/.test(text)

export function AskBudget({ task, now, onClose }: Props) {
  const limits = { usd: task.budget?.maxUsd ?? '', tokens: task.budget?.maxTokens?.toString() ?? '' }
  const { value, set, drop } = useDraft(`budget:${task.id}`, limits)
  const { usd, tokens } = value
  const missing =
    usd === '' && tokens === ''
      ? 'Give a limit in dollars, in tokens, or both.'
      : usd !== '' && !isAmount(usd)
        ? 'Dollars are written as 2 or 2.50.'
        : tokens !== '' && !/^[1-9]\d{0,14}$/.test(tokens)
          ? 'Tokens are a whole number.'
          : null
  const save = useAct(
    () =>
      setBudget(task.id, {
        ...(usd !== '' && { maxUsd: usd }),
        ...(tokens !== '' && { maxTokens: Number(tokens) }),
      }),
    () => {
      drop()
      return `Budget of ${shortName(task)} changed.`
    },
  )
  return (
    <AskDialog
      confirm={now.state === 'budget_exceeded' ? 'Raise the budget and continue' : 'Change budget'}
      missing={missing}
      onClose={onClose}
      onConfirm={() => save.run()}
      text={`Used so far: ${spentText(now.costUsd, task.isSimulated)}, ${now.tokensUsed} tokens. When it is used up, a person is asked.`}
      title={`Budget of ${shortName(task)}`}
    >
      <Field hint="Of all its runs together." label="Dollars">
        <TextInput
          inputMode="decimal"
          onChange={(event) => set({ ...value, usd: event.target.value.trim() })}
          value={usd}
        />
      </Field>
      <Field label="Tokens">
        <TextInput
          inputMode="numeric"
          onChange={(event) => set({ ...value, tokens: event.target.value.trim() })}
          value={tokens}
        />
      </Field>
    </AskDialog>
  )
}

/** JSON is taken as JSON, all else as text. */
function resultIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function AskResult({ task, now, onClose }: Props) {
  const { value, set, drop } = useDraft(`result:${task.id}`, { text: '', summary: '' })
  const { text, summary } = value
  const save = useAct(
    () => completeByHand(task.id, resultIn(text), summary.trim(), now.generation),
    () => {
      drop()
      return `${shortName(task)} completed.`
    },
  )
  return (
    <AskDialog
      confirm="Complete task"
      missing={text.trim() === '' ? 'A result is needed.' : null}
      onClose={onClose}
      onConfirm={() => save.run()}
      text="Your result is accepted as it is. The agent working on it loses it."
      title={`Complete ${shortName(task)} by hand`}
    >
      <Field hint="Text, or JSON." label="Result">
        <TextInput onChange={(event) => set({ ...value, text: event.target.value })} rows={6} value={text} />
      </Field>
      <Field hint="Optional, one sentence." label="Summary">
        <TextInput onChange={(event) => set({ ...value, summary: event.target.value })} value={summary} />
      </Field>
    </AskDialog>
  )
}
