import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PageLink } from '../../links.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { searchQuery } from '../../requests/search.ts'

/** No task has this name here: maybe another one was meant. */
export function MissingTask({ name }: { name: string }) {
  const [q, setQ] = useState(name)
  const { data } = useQuery({ ...searchQuery(q.trim()), enabled: q.trim() !== '' })
  const tasks = data?.items.filter(({ kind }) => kind === 'task') ?? []
  return (
    <div className="mx-auto flex max-w-prose flex-col">
      <Empty
        drawing="search"
        text={`There is no task ${name.slice(0, 80)} here, or it was removed.`}
        title="Not in this workspace"
      />
      <Field label="Look for a task">
        <TextInput onChange={(event) => setQ(event.target.value)} type="search" value={q} />
      </Field>
      {data && tasks.length === 0 && <p className="mt-2 text-row text-muted">No task matches that.</p>}
      <ul aria-label="Found tasks" className="mt-2 flex flex-col">
        {tasks.map((task) => (
          <li key={task.id}>
            <PageLink
              className="touchable flex min-h-8 items-center rounded-chip px-2 text-row hover:bg-hover"
              to={`/tasks/${task.id}`}
            >
              <span className="min-w-0 truncate">{task.title}</span>
            </PageLink>
          </li>
        ))}
      </ul>
    </div>
  )
}
