import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import {
  type FirstBudget,
  FirstBudgetFields,
  firstBudgetProblem,
  NO_BUDGET,
  setFirstBudget,
} from '../../things/budget/first-budget.tsx'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { isSlug, slugFrom } from './slug.ts'

interface Draft {
  name: string
  /** Null: made from the name. */
  slug: string | null
  /** Missing in drafts that were kept before there was one. */
  budget?: FirstBudget
}

/** A name is enough: the short name in addresses and plans follows from it, until it is written. */
export function NewProject({ onClose }: { onClose: () => void }) {
  const go = useGo()
  const { value: draft, set, drop, isKept } = useDraft<Draft>('new-project', { name: '', slug: null })
  const { budget = NO_BUDGET } = draft
  const slug = draft.slug ?? slugFrom(draft.name)
  const discard = () => {
    drop()
    onClose()
  }
  const create = useAct(
    async () => {
      const made = await api().post('/projects', {
        body: { slug, name: draft.name.trim() || slug },
        retry: true,
      })
      await setFirstBudget('project', made.slug, budget)
      return made
    },
    (made) => {
      discard()
      go(`/projects/${made.slug}`)
      return { title: `The project “${made.name}” is created.`, text: 'Import its plan next.' }
    },
    { onRefused: shownInPlace },
  )
  const isTaken = create.error !== null && 'code' in create.error && create.error.code === 'ALREADY_EXISTS'
  const problem =
    slug !== '' && !isSlug(slug)
      ? 'Use letters, digits, dots and dashes.'
      : isTaken
        ? 'Another project has this short name.'
        : null
  const refusal =
    create.whyNot ?? (slug === '' ? 'A name is needed.' : (problem ?? firstBudgetProblem(budget)))
  const submit = () => refusal === null && !create.isBusy && create.run()
  return (
    <Dialog
      actions={
        <>
          {isKept && (
            <Button kind="quiet" onClick={discard}>
              Discard
            </Button>
          )}
          <Button onClick={onClose}>Back</Button>
          <Button
            busy={create.isBusy}
            disabledReason={refusal}
            kind="primary"
            onClick={submit}
            shortcut="Enter"
          >
            Create project
          </Button>
        </>
      }
      onClose={onClose}
      open
      title="New project"
      width="small"
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <NameFields
          draft={draft}
          onChange={(next) => {
            create.reset()
            set((before) => ({ ...before, ...next }))
          }}
          problem={problem}
          slug={slug}
        />
        <FirstBudgetFields
          onChange={(next) => set((before) => ({ ...before, budget: next }))}
          value={budget}
        />
        {create.error && !isTaken && <ProblemBox error={create.error} />}
        {/* Enter in a field sends the form, which needs a button of its own for that. */}
        <button className="hidden" tabIndex={-1} type="submit" />
      </form>
    </Dialog>
  )
}

function NameFields(props: {
  draft: Draft
  slug: string
  problem: string | null
  onChange: (next: Partial<Draft>) => void
}) {
  const { draft, slug, problem, onChange } = props
  return (
    <>
      <Field label="Name">
        <TextInput
          autoComplete="off"
          maxLength={200}
          onChange={(event) => onChange({ name: event.target.value })}
          value={draft.name}
        />
      </Field>
      <Field hint="In addresses, and as “project” in its plan." label="Short name" problem={problem}>
        <TextInput
          autoComplete="off"
          className="font-mono"
          maxLength={100}
          onChange={(event) => onChange({ slug: event.target.value === '' ? null : event.target.value })}
          spellCheck={false}
          value={slug}
        />
      </Field>
    </>
  )
}
