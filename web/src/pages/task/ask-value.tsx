import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { toast } from '../../parts/toasts.tsx'
import { moneyText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { completeByHand, setBudget } from '../../requests/task-decisions.ts'
import type { AskProps } from './asked-first.ts'
import { shortName } from './task-heading.tsx'
import { tellRefusal } from './tell.ts'

/** Dialogs that ask for a value: priority, agent, budget, a result. */

function AskDialog(props: {
  title: string
  text: string
  confirm: string
  missing?: string | null
  onClose: () => void
  onConfirm: () => void
  children: ReactNode
}) {
  const { title, text, confirm, missing, onClose, onConfirm, children } = props
  const submit = () => {
    if (missing) return
    onConfirm()
    onClose()
  }
  const actions = (
    <>
      <Button onClick={onClose}>Keep as it is</Button>
      <Button disabledReason={missing} kind="primary" onClick={submit}>
        {confirm}
      </Button>
    </>
  )
  return (
    <Dialog actions={actions} onClose={onClose} open text={text} title={title} width="small">
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {children}
      </form>
    </Dialog>
  )
}

const PRIORITIES = Array.from({ length: 10 }, (_, place) => String(10 - place))

export function AskPriority({ task, now, onClose, run }: AskProps) {
  const [priority, setPriority] = useState(String(now.priority))
  return (
    <AskDialog
      confirm="Change priority"
      onClose={onClose}
      onConfirm={() => run({ act: 'priority', priority: Number(priority) })}
      text="10 is the most urgent. Among equals the oldest comes first."
      title={`Priority of ${shortName(task)}`}
    >
      <Field label="Priority">
        <Select
          onChange={setPriority}
          options={PRIORITIES.map((value) => ({ value, words: value }))}
          value={priority}
        />
      </Field>
    </AskDialog>
  )
}

export function AskAgent({ task, now, onClose, run }: AskProps) {
  const [agent, setAgent] = useState(now.agent ?? '')
  const { data } = useQuery({
    queryKey: ['agent-names'],
    queryFn: ({ signal }) => api().get('/agents', { query: { limit: 200 }, signal }),
  })
  const slugs = new Set([...(data?.items.map(({ slug }) => slug) ?? []), ...(now.agent ? [now.agent] : [])])
  return (
    <AskDialog
      confirm="Change agent"
      onClose={onClose}
      onConfirm={() => run({ act: 'agent', agent: agent === '' ? null : agent })}
      text="Only this agent may work on it then. If another holds it, it loses it."
      title={`Agent of ${shortName(task)}`}
    >
      <Field label="Agent">
        <Select
          onChange={setAgent}
          options={[
            { value: '', words: 'Any agent' },
            ...[...slugs].sort().map((slug) => ({ value: slug, words: slug })),
          ]}
          value={agent}
        />
      </Field>
    </AskDialog>
  )
}

const isAmount = (text: string) => /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/.test(text)

export function AskBudget({ task, now, onClose }: AskProps) {
  const [usd, setUsd] = useState(task.budget?.limitUsd ?? '')
  const [tokens, setTokens] = useState(task.budget?.limitTokens?.toString() ?? '')
  const missing =
    usd === '' && tokens === ''
      ? 'Give a limit in dollars, in tokens, or both.'
      : usd !== '' && !isAmount(usd)
        ? 'Dollars are written as 2 or 2.50.'
        : tokens !== '' && !/^[1-9]\d{0,14}$/.test(tokens)
          ? 'Tokens are a whole number.'
          : null
  const save = () =>
    setBudget(task.id, {
      ...(usd !== '' && { limitUsd: usd }),
      ...(tokens !== '' && { limitTokens: Number(tokens) }),
    }).then(() => toast({ kind: 'done', title: `Budget of ${shortName(task)} changed.` }), tellRefusal)
  return (
    <AskDialog
      confirm={now.state === 'budget_exceeded' ? 'Raise budget and go on' : 'Change budget'}
      missing={missing}
      onClose={onClose}
      onConfirm={() => void save()}
      text={`Used so far: ${moneyText(now.costUsd)}, ${now.tokens} tokens. When it is used up, a person is asked.`}
      title={`Budget of ${shortName(task)}`}
    >
      <Field hint="Of all its runs together." label="Dollars">
        <TextInput inputMode="decimal" onChange={(event) => setUsd(event.target.value.trim())} value={usd} />
      </Field>
      <Field label="Tokens">
        <TextInput
          inputMode="numeric"
          onChange={(event) => setTokens(event.target.value.trim())}
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

export function AskResult({ task, now, onClose }: AskProps) {
  const [text, setText] = useState('')
  const [summary, setSummary] = useState('')
  const save = () =>
    completeByHand(task.id, resultIn(text), summary.trim(), now.generation).then(
      () => toast({ kind: 'done', title: `${shortName(task)} completed.` }),
      tellRefusal,
    )
  return (
    <AskDialog
      confirm="Complete task"
      missing={text.trim() === '' ? 'A result is needed.' : null}
      onClose={onClose}
      onConfirm={() => void save()}
      text="Your result is accepted as it is. Whoever works on the task loses it."
      title={`Complete ${shortName(task)} by hand`}
    >
      <Field hint="Text, or JSON." label="Result">
        <TextInput onChange={(event) => setText(event.target.value)} rows={6} value={text} />
      </Field>
      <Field hint="Optional, one sentence." label="Summary">
        <TextInput onChange={(event) => setSummary(event.target.value)} value={summary} />
      </Field>
    </AskDialog>
  )
}
