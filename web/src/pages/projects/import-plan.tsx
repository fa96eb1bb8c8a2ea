import { useRef } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { toast } from '../../parts/toasts.tsx'
import { countText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { importedWords } from './imported-words.ts'
import { examplePlan, type PlanProblem, placeOfLine, planProblems } from './plan-problems.ts'
import type { Project } from './use-projects.ts'

/** As the server takes it. */
const LARGEST_PLAN_BYTES = 4 * 1024 * 1024

/** The whole plan of a project, as text or from a file: all its tasks are created, or none and all problems are told. */
export function ImportPlan({ project: { slug, name }, onClose }: { project: Project; onClose: () => void }) {
  const { value: plan, set, drop, isKept } = useDraft(`project-plan:${slug}`, examplePlan(slug))
  const text = useRef<HTMLTextAreaElement>(null)
  const discard = () => {
    drop()
    onClose()
  }
  const send = useAct(
    () => api().put('/projects/:slug/plan', { params: { slug }, body: plan }),
    (imported) => {
      discard()
      return importedWords(imported)
    },
    { onRefused: shownInPlace },
  )
  const change = (next: string) => {
    send.reset()
    set(next)
  }
  const problems = planProblems(send.error)
  const refusal = send.whyNot ?? (plan.trim() === '' ? 'Write the plan, or choose a file.' : null)
  const submit = () => refusal === null && !send.isBusy && send.run()
  const showLine = (line: number) => {
    const element = text.current
    if (!element) return
    element.focus()
    const [from, to] = placeOfLine(plan, line)
    element.setSelectionRange(from, to)
    const height = element.scrollHeight / plan.split('\n').length
    element.scrollTop = Math.max(0, (line - 3) * height)
  }
  return (
    <Dialog
      actions={
        <>
          {isKept && (
            <Button kind="quiet" onClick={discard}>
              Discard
            </Button>
          )}
          <Button onClick={onClose}>Close</Button>
          <Button
            busy={send.isBusy}
            disabledReason={refusal}
            kind="primary"
            onClick={submit}
            shortcut="Ctrl Enter"
          >
            Import
          </Button>
        </>
      }
      onClose={onClose}
      open
      text="All its tasks are created, or none. Tasks that exist get new texts and settings, and keep their dependencies."
      title={`Import a plan into “${name}”`}
      width="wide"
    >
      <form
        className="flex flex-col gap-3"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat) submit()
        }}
        onSubmit={(event) => event.preventDefault()}
      >
        <Field hint="YAML or JSON, with the tracks of the project and their tasks." label="Plan">
          <TextInput
            className="font-mono text-row"
            onChange={(event) => change(event.target.value)}
            ref={text}
            rows={14}
            spellCheck={false}
            value={plan}
          />
        </Field>
        <ChooseFile onText={change} />
        <div aria-live="polite">
          {problems && <Problems onLine={showLine} problems={problems} />}
          {send.error && problems === null && <ProblemBox error={send.error} />}
        </div>
      </form>
    </Dialog>
  )
}

function ChooseFile({ onText }: { onText: (text: string) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const read = async (file: File | undefined) => {
    if (!file) return
    if (file.size > LARGEST_PLAN_BYTES)
      toast({ kind: 'bad', title: `${file.name} is too large for a plan.`, text: 'A plan has 4 MB at most.' })
    else onText(await file.text())
  }
  return (
    <div>
      <Button icon="folder" onClick={() => input.current?.click()} size="small">
        Choose a file
      </Button>
      <input
        accept=".yaml,.yml,.json,application/json,application/yaml,text/plain"
        aria-label="File with the plan"
        className="hidden"
        onChange={(event) => {
          void read(event.target.files?.[0])
          // The same file can be chosen again after it was changed.
          event.target.value = ''
        }}
        ref={input}
        type="file"
      />
    </div>
  )
}

const MOST_SHOWN = 500

function Problems(props: { problems: readonly PlanProblem[]; onLine: (line: number) => void }) {
  const { problems, onLine } = props
  return (
    <section aria-label="Problems of the plan" className="rounded-card bg-bad-tint p-3 text-row text-bad">
      <h3 className="font-medium">
        {problems.length === 1 ? 'One problem' : `${countText(problems.length)} problems`}, so nothing was
        created
      </h3>
      <ul className="mt-1 flex max-h-60 flex-col gap-1 overflow-y-auto">
        {problems.slice(0, MOST_SHOWN).map(({ line, message }) => (
          <li className="break-words" key={`${line} ${message}`}>
            {line !== null && (
              <button
                className="font-medium underline hover:no-underline"
                onClick={() => onLine(line)}
                type="button"
              >
                Line {countText(line)}
              </button>
            )}
            {line !== null && ': '}
            {message}
          </li>
        ))}
      </ul>
      {problems.length > MOST_SHOWN && <p>The first {MOST_SHOWN} are shown.</p>}
    </section>
  )
}
