import { useState } from 'react'
import { isPlainEnter } from '../../../keys/keystrokes.ts'
import { Field } from '../../../parts/field.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { Select } from '../../../parts/select.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import type { FormOf } from './form-fields.tsx'
import { offeredTo } from './plan-changes.ts'
import { saidAt } from './plan-problems.ts'
import { type Edge, edgesOf, idOf, type Json, textIn, withEdges, withValue } from './plan-value.ts'
import { factsOf } from './row-facts.ts'

const KINDS: { value: Edge['kind']; words: string }[] = [
  { value: 'data', words: 'and gets its result' },
  { value: 'order', words: 'only its end' },
]

const RULES = [
  { value: '', words: 'all of them succeeded' },
  { value: 'all_done', words: 'all of them ended, however' },
  { value: 'none_failed', words: 'all ended and none failed' },
  { value: 'one_success', words: 'one of them succeeded' },
  { value: 'always', words: 'all ended, even if they were skipped' },
]

const MOST_SHOWN = 8
const MOST_DRAWN = 50

/** What a task waits for. Only tasks that do not wait for it, however far, are offered: no cycle can be made here. */
export function EdgesField(props: { form: FormOf; tasks: readonly Json[]; at: number }) {
  const { form, tasks, at } = props
  const { task, change, problems } = form
  const [isWhole, setWhole] = useState(false)
  const edges = edgesOf(task)
  const placeOf = new Map(tasks.map((one, place) => [idOf(one), place]))
  const set = (next: readonly Edge[]) => change((before) => withEdges(before, next))
  const named = ({ on }: Edge) => {
    const place = placeOf.get(on)
    return place === undefined ? on : `${place + 1} ${factsOf(tasks[place]!).name}`
  }
  const rule = textIn(task, 'triggerRule')
  const drawn = isWhole ? edges : edges.slice(0, MOST_DRAWN)
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <AddEdge
        at={at}
        onAdd={(on) => set([...edges, { on, kind: 'data' }])}
        problem={saidAt(problems, 'dependsOn')}
        tasks={tasks}
      />
      {edges.length > 0 && (
        <ul aria-label="Dependencies" className="flex max-h-60 flex-col gap-1 overflow-y-auto">
          {drawn.map((edge, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same task may be listed twice by mistake
            <li className="flex min-w-0 items-center gap-1.5" key={place}>
              <span className="min-w-0 flex-1 truncate text-row">{named(edge)}</span>
              <Select
                aria-label={`What it gets of ${named(edge)}`}
                onChange={(kind) =>
                  set(edges.map((one, other) => (other === place ? { ...one, kind } : one)))
                }
                options={KINDS}
                size="small"
                value={edge.kind}
              />
              <IconButton
                icon="close"
                label={`Do not wait for ${named(edge).slice(0, 80)}`}
                onClick={() => set(edges.filter((_, other) => other !== place))}
                size="small"
              />
            </li>
          ))}
        </ul>
      )}
      {edges.length > drawn.length && (
        <button
          className="self-start text-row text-accent hover:underline"
          onClick={() => setWhole(true)}
          type="button"
        >
          Show all {edges.length}
        </button>
      )}
      {(edges.length > 0 || rule !== '') && (
        <Field label="Starts when" problem={saidAt(problems, 'triggerRule')}>
          <Select
            onChange={(next) => change((before) => withValue(before, 'triggerRule', next))}
            options={
              rule === '' || RULES.some(({ value }) => value === rule)
                ? RULES
                : [...RULES, { value: rule, words: rule === 'all_success' ? 'all of them succeeded' : rule }]
            }
            value={rule}
          />
        </Field>
      )}
    </div>
  )
}

/** Found by number, title or id. What may be chosen is computed while it is asked for. */
function AddEdge(props: {
  tasks: readonly Json[]
  at: number
  problem: string | null
  onAdd: (id: string) => void
}) {
  const { tasks, at, problem, onAdd } = props
  const [typed, setTyped] = useState<string | null>(null)
  const offered = typed === null ? [] : found(tasks, at, typed)
  const add = (place: number) => {
    onAdd(idOf(tasks[place]!))
    setTyped('')
  }
  return (
    <div className="flex flex-col gap-1">
      <Field
        hint="It begins after them. Tasks that wait for this one are not offered."
        label="Waits for"
        problem={problem}
      >
        <TextInput
          autoComplete="off"
          onBlur={() => setTyped(null)}
          onChange={(event) => setTyped(event.target.value)}
          onFocus={() => setTyped('')}
          onKeyDown={(event) => {
            if (!isPlainEnter(event)) return
            event.preventDefault()
            if (typed && offered[0] !== undefined) add(offered[0])
          }}
          placeholder="Find a task by its number or title"
          value={typed ?? ''}
        />
      </Field>
      {offered.length > 0 && (
        <ul aria-label="Tasks it may wait for" className="overflow-hidden rounded-card border border-line">
          {offered.map((place) => (
            <li key={place}>
              <button
                className="focus-inside touchable flex min-h-8 w-full min-w-0 items-center gap-2 px-2 text-left text-row hover:bg-hover"
                onClick={() => add(place)}
                // The list is there as long as the field has the focus.
                onMouseDown={(event) => event.preventDefault()}
                tabIndex={-1}
                type="button"
              >
                <span className="w-6 shrink-0 text-right font-mono text-label text-muted">{place + 1}</span>
                <span className="truncate">{factsOf(tasks[place]!).name}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function found(tasks: readonly Json[], at: number, typed: string): number[] {
  const wanted = typed.trim().toLowerCase()
  const matches = (place: number) => {
    const { name, id } = factsOf(tasks[place]!)
    return (
      wanted === '' ||
      String(place + 1) === wanted ||
      id.toLowerCase().includes(wanted) ||
      name.toLowerCase().includes(wanted)
    )
  }
  return offeredTo(tasks, at).filter(matches).slice(0, MOST_SHOWN)
}
