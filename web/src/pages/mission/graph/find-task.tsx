import { useState } from 'react'
import { PageLink } from '../../../links.tsx'
import { StateMark } from '../../../parts/state-mark.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import { nameOfTask } from '../../../requests/act-words.ts'
import type { TaskGraph } from '../task-rows.ts'
import { found } from './marked.ts'

const nameOf = (id: string) => nameOfTask(id, undefined)

/** Finds one of many tasks by its number or title. */
export function FindTask({ graph, addressOf }: { graph: TaskGraph; addressOf: (task: string) => string }) {
  const [text, setText] = useState('')
  const hits = found(graph.nodes, text, nameOf)
  return (
    <div className="flex max-w-prose flex-col gap-1">
      <TextInput
        aria-label="Find a task"
        onChange={(event) => setText(event.target.value)}
        placeholder="Number or title of a task"
        type="search"
        value={text}
      />
      {text.trim() !== '' && hits.length === 0 && (
        <p className="text-row text-muted">No task is called that.</p>
      )}
      {hits.length > 0 && (
        <ul aria-label="Tasks found">
          {hits.map(({ id, title, state }) => (
            <li key={id}>
              <PageLink
                className="touchable flex min-h-7 items-center gap-2 rounded-chip px-1.5 text-row hover:bg-hover"
                to={addressOf(id)}
              >
                {state && <StateMark size={14} state={state} />}
                <span className="font-mono text-label text-muted">{nameOf(id)}</span>
                <span className="min-w-0 truncate">{title}</span>
              </PageLink>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
