import { Field } from '../../../parts/field.tsx'
import { Select } from '../../../parts/select.tsx'
import { agentNote, agentOption, choosable, notesOf, type Roster } from './agent-notes.ts'
import { type FormOf, GRID, Note, TextField, WordsField } from './form-fields.tsx'
import { saidAt, saidIn, saidOfRest } from './plan-problems.ts'
import { recordIn, textIn, withinValue, withValue } from './plan-value.ts'

/** Those that there are, and the one that is named, also if there is none of this name. */
function AgentSelect(props: {
  value: string
  none: string
  roster: Roster
  onChange: (slug: string) => void
}) {
  const { value, none, roster, onChange } = props
  const agents = choosable(roster)
  const isListed = value === '' || agents.some(({ slug }) => slug === value)
  return (
    <Select
      onChange={onChange}
      options={[
        { value: '', words: none },
        ...agents.map(agentOption),
        ...(isListed ? [] : [{ value, words: roster.isCut ? value : `${value}, unknown` }]),
      ]}
      value={value}
    />
  )
}

/** Who does a task: one agent, one that goes first, or any that can. */
export function WhoFields(props: { form: FormOf; roster: Roster; hasPreferred?: boolean }) {
  const { form, roster, hasPreferred = true } = props
  const { task, change, problems } = form
  const agent = textIn(task, 'agent')
  const preferred = textIn(task, 'preferredAgent')
  const template = textIn(recordIn(task, 'contractor'), 'template')
  const notes = new Map(notesOf(task, roster).map(({ field, words }) => [field, words]))
  const capabilities = [...new Set(roster.agents.flatMap((one) => one.capabilities))].sort()
  return (
    <>
      <div className={GRID}>
        <div className="min-w-0">
          <Field label="Agent" problem={saidAt(problems, 'agent')}>
            <AgentSelect
              none={template === '' ? 'Any agent' : `Made from ${template}`}
              onChange={(slug) =>
                change((before) =>
                  slug === ''
                    ? withValue(before, 'agent', '')
                    : withValue(
                        withValue(withValue(before, 'contractor', ''), 'preferredAgent', ''),
                        'agent',
                        slug,
                      ),
                )
              }
              roster={roster}
              value={agent}
            />
          </Field>
          {notes.has('agent') && <Note words={notes.get('agent')!} />}
        </div>
        {hasPreferred && (agent === '' || preferred !== '') && (
          <div className="min-w-0">
            <Field label="Preferred agent" problem={saidAt(problems, 'preferredAgent')}>
              <AgentSelect
                none="Nobody goes first"
                onChange={(slug) => change((before) => withValue(before, 'preferredAgent', slug))}
                roster={roster}
                value={preferred}
              />
            </Field>
            {notes.has('preferredAgent') && <Note words={notes.get('preferredAgent')!} />}
          </div>
        )}
      </div>
      {agent === '' && (
        <WordsField
          field="capabilities"
          form={form}
          hint="What its agent must be able to do."
          known={capabilities}
          label="Capabilities"
          note={notes.get('capabilities') ?? null}
        />
      )}
    </>
  )
}

const JUDGES = [
  { value: '', words: 'Nobody' },
  { value: 'human', words: 'A person' },
  { value: 'agent', words: 'An agent' },
  { value: 'command', words: 'A command' },
  { value: 'auto', words: 'Baton, by its shape' },
]

/** Fields of a review that its form shows, by who judges. */
const SHOWN_OF: Readonly<Record<string, readonly string[]>> = {
  agent: ['agent', 'threshold'],
  command: ['command'],
}

/** Who judges its result. */
export function ReviewFields({ form, roster }: { form: FormOf; roster: Roster }) {
  const { task, change, problems } = form
  const review = recordIn(task, 'verification')
  const kind = textIn(review, 'kind')
  const judge = textIn(review, 'agent')
  const note = agentNote(judge, roster)
  return (
    <>
      <Field label="Reviewed by" problem={saidOfRest(problems, 'verification', SHOWN_OF[kind] ?? [])}>
        <Select
          onChange={(next) =>
            change((before) => withValue(before, 'verification', next === '' ? '' : { kind: next }))
          }
          options={JUDGES}
          value={kind}
        />
      </Field>
      {kind === 'agent' && (
        <div className={GRID}>
          <div className="min-w-0">
            <Field label="Reviewer" problem={saidIn(problems, 'verification', 'agent')}>
              <AgentSelect
                none="Any other agent"
                onChange={(slug) => change((before) => withinValue(before, 'verification', 'agent', slug))}
                roster={roster}
                value={judge}
              />
            </Field>
            {note && <Note words={note} />}
          </div>
          <TextField
            field="threshold"
            form={form}
            group="verification"
            isNumber
            label="Least score"
            placeholder="0.7"
          />
        </div>
      )}
      {kind === 'command' && (
        <TextField
          field="command"
          form={form}
          group="verification"
          hint="Exit code 0 passes."
          label="Command"
          placeholder="npm test"
        />
      )}
    </>
  )
}

/** Instead of an agent that there is: one that is made from it, for this mission alone. */
export function ContractorFields({ form, roster }: { form: FormOf; roster: Roster }) {
  const { task, change, problems } = form
  const template = textIn(recordIn(task, 'contractor'), 'template')
  return (
    <div className={GRID}>
      <Field
        hint="One more of its kind, for this mission alone."
        label="Made from the agent"
        problem={
          saidIn(problems, 'contractor', 'template') ??
          saidOfRest(problems, 'contractor', ['template', 'name'])
        }
      >
        <AgentSelect
          none="None is made for it"
          onChange={(slug) =>
            change((before) =>
              slug === ''
                ? withValue(before, 'contractor', '')
                : withinValue(
                    withValue(withValue(before, 'agent', ''), 'preferredAgent', ''),
                    'contractor',
                    'template',
                    slug,
                  ),
            )
          }
          roster={roster}
          value={template}
        />
      </Field>
      {template !== '' && (
        <TextField
          field="name"
          form={form}
          group="contractor"
          hint="Tasks with the same agent and name share it."
          label="Its name"
          placeholder="none"
        />
      )}
    </div>
  )
}
