import { useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { PageLink } from '../../links.tsx'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../use-act.ts'
import { isOwnAgent } from './own-agent.ts'
import { type ActedOn, whyNotWoken } from './use-agent-acts.ts'

type Wakeup = AnswerTo<'POST', '/agents/:id/wakeup'>['wakeup']

const LONGEST_REASON = 2_000

/** Wakes an agent with a reason, for a task or for whatever waits, and leads to its run. */
export function WakeDialog(props: {
  /** Those that can be chosen; one alone is not asked about. */
  agents: readonly ActedOn[]
  first?: string | null
  task?: { id: string; name: string } | undefined
  onClose: () => void
}) {
  const { agents, first = null, task, onClose } = props
  const choices = agents.filter(({ slug }) => !isOwnAgent(slug))
  const [chosen, setChosen] = useState((choices.find(({ slug }) => slug === first) ?? choices[0])?.slug ?? '')
  const agent = choices.find(({ slug }) => slug === chosen)
  const [woken, setWoken] = useState<Wakeup | null>(null)
  const written = useDraft(`wake:${task?.id ?? chosen}`, '')
  const reason = written.value.trim()
  const wake = useAct(
    (slug: string) =>
      api().post('/agents/:id/wakeup', {
        params: { id: slug },
        body: { ...(reason !== '' && { reason }), ...(task && { taskId: task.id }) },
      }),
    ({ wakeup }) => {
      setWoken(wakeup)
      if (wakeup.status !== 'skipped') written.drop()
      return undefined
    },
    { right: 'work', onRefused: shownInPlace },
  )
  const whyNot =
    wake.whyNot ??
    (agent ? whyNotWoken(agent) : 'Choose an agent.') ??
    (reason.length > LONGEST_REASON ? 'A reason has at most 2,000 characters.' : null)
  const submit = () => agent && whyNot === null && !wake.isBusy && wake.run(agent.slug)
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>{woken ? 'Close' : 'Back'}</Button>
          {(!woken || woken.status === 'skipped') && (
            <Button
              busy={wake.isBusy}
              disabledReason={whyNot}
              kind="primary"
              onClick={submit}
              shortcut="Ctrl Enter"
            >
              Wake
            </Button>
          )}
        </>
      }
      onClose={onClose}
      open
      text={task ? `For ${task.name}.` : 'It takes the next task that waits for it, or runs without one.'}
      title={agents.length === 1 ? `Wake ${chosen}` : 'Wake an agent'}
      width="small"
    >
      <form
        className="flex flex-col gap-4"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
        onSubmit={(event) => event.preventDefault()}
      >
        {agents.length > 1 && (
          <Field label="Agent">
            <Select
              onChange={setChosen}
              options={choices.map(({ slug }) => ({ value: slug, words: slug }))}
              value={chosen}
            />
          </Field>
        )}
        <Field hint="Optional. The agent can read it." label="Reason" problem={wake.error?.message ?? null}>
          <TextInput onChange={(event) => written.set(event.target.value)} rows={4} value={written.value} />
        </Field>
        {woken && <Outcome wakeup={woken} />}
      </form>
    </Dialog>
  )
}

/** What became of the wakeup: its run, as soon as it begins. */
function Outcome({ wakeup }: { wakeup: Wakeup }) {
  const { agent } = wakeup
  const { data } = useSnapshot(
    ['agent-wakeups', agent],
    ({ signal }) =>
      api().read('/agents/:id/wakeups', { params: { id: agent }, query: { limit: '100' }, signal }),
    { follows: about.wakeupsOfAgent(agent) },
  )
  // A wakeup that was merged into another one has the run of that one.
  const all = data?.items ?? []
  const now = all.find(({ id }) => id === wakeup.id) ?? wakeup
  const runId = now.runId ?? all.find(({ id }) => id === now.coalescedInto)?.runId ?? null
  if (now.status === 'skipped')
    return (
      <p className="text-row text-bad" role="alert">
        {agent} was not woken. {now.detail}
      </p>
    )
  return (
    <p className="text-row" role="status">
      {runId === null ? (
        `${agent} is being woken. Its run is linked here when it begins.`
      ) : (
        <>
          {agent} was woken.{' '}
          <PageLink className="text-accent hover:underline" to={`/runs/${runId}`}>
            Open its run
          </PageLink>
        </>
      )}
    </p>
  )
}
