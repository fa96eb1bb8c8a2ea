import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { TaskState } from '../../../../../src/pure/states.ts'
import { Chip } from '../../../parts/chip.tsx'
import { Field } from '../../../parts/field.tsx'
import { StateMark } from '../../../parts/state-mark.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import { searchQuery } from '../../../requests/search.ts'
import { shortName } from '../card-words.ts'
import type { Upstream } from './draft.ts'

const LEAST_LETTERS = 2
const MOST_SHOWN = 6

/** Tasks that have to be done first, found by a few letters. */
export function DependsOn(props: {
  chosen: readonly Upstream[]
  onChange: (chosen: readonly Upstream[]) => void
  problem: string | undefined
  /** Why it stays as it is. */
  whyNot: string | null
}) {
  const { chosen, onChange, problem, whyNot } = props
  const [typed, setTyped] = useState('')
  const input = useRef<HTMLInputElement>(null)
  const q = typed.trim()
  const { data } = useQuery({ ...searchQuery(q), enabled: q.length >= LEAST_LETTERS })
  const found = (q.length >= LEAST_LETTERS ? (data?.items ?? []) : [])
    .filter(({ kind, id }) => kind === 'task' && !chosen.some((one) => one.id === id))
    .slice(0, MOST_SHOWN)
  return (
    <div className="flex flex-col gap-2">
      <Field hint={whyNot ?? 'It begins when these are done.'} label="Depends on" problem={problem}>
        <TextInput
          autoComplete="off"
          disabled={whyNot !== null}
          onChange={(event) => setTyped(event.target.value)}
          placeholder="Find a task by title or key"
          ref={input}
          value={typed}
        />
      </Field>
      {found.length > 0 && (
        <ul className="overflow-hidden rounded-card border border-line">
          {found.map(({ id, key, title, state }) => (
            <li key={id}>
              <button
                className="focus-inside touchable flex min-h-8 w-full items-center gap-2 px-2 text-left text-row hover:bg-hover"
                onClick={() => {
                  onChange([...chosen, { id, words: key ?? shortName(id, undefined) }])
                  setTyped('')
                  input.current?.focus()
                }}
                type="button"
              >
                <StateMark state={state as TaskState} />
                <span className="shrink-0 font-mono text-label text-muted">
                  {key ?? shortName(id, undefined)}
                </span>
                <span className="truncate">{title}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
      {chosen.length > 0 && (
        <div className="flex flex-wrap gap-2">
          {chosen.map(({ id, words }) => (
            <Chip
              key={id}
              {...(whyNot === null && {
                onRemove: () => {
                  onChange(chosen.filter((one) => one.id !== id))
                  // The button is gone: the keyboard stays in the form.
                  input.current?.focus()
                },
                removeLabel: `Do not wait for ${words}`,
              })}
            >
              {words}
            </Chip>
          ))}
        </div>
      )}
    </div>
  )
}
