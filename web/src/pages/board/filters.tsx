import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Field } from '../../parts/field.tsx'
import { Popover } from '../../parts/popover.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { agentNamesQuery } from '../../requests/names.ts'
import { missionQuery, missionsQuery, projectsQuery } from './queries.ts'
import type { BoardSearch } from './search.ts'

type Change = Partial<Record<'project' | 'mission' | 'agent' | 'tag' | 'q', string | undefined>>

interface Props {
  search: BoardSearch
  onChange: (change: Change) => void
}

/** The filters of the board as chips; more of them behind one button; words of the title in a field. */
export function Filters({ search, onChange }: Props) {
  const { project, mission, agent, tag } = search
  return (
    <>
      <TitleField onChange={(q) => onChange({ q })} value={search.q ?? ''} />
      {/* Beside a panel there is no room for them: the button then says how many there are, and its fields which. */}
      <span className="contents sm:@max-[1000px]:hidden">
        {project && <Chip onRemove={() => onChange({ project: undefined })}>project: {project}</Chip>}
        {mission && <MissionChip id={mission} onRemove={() => onChange({ mission: undefined })} />}
        {agent && <Chip onRemove={() => onChange({ agent: undefined })}>agent: {agent}</Chip>}
        {tag && <Chip onRemove={() => onChange({ tag: undefined })}>tag: {tag}</Chip>}
      </span>
      <MoreFilters onChange={onChange} search={search} />
    </>
  )
}

function MissionChip({ id, onRemove }: { id: string; onRemove: () => void }) {
  const { data } = useQuery(missionQuery(id))
  return (
    <Chip onRemove={onRemove} title={data?.title ?? id}>
      mission: {data?.title ?? '…'}
    </Chip>
  )
}

const TYPED_MS = 250

/** Narrows while it is typed. */
function TitleField({ value, onChange }: { value: string; onChange: (q: string | undefined) => void }) {
  const field = useRef<HTMLInputElement>(null)
  const [typed, setTyped] = useState(value)
  const sent = useRef(value)
  const latest = useRef(onChange)
  useEffect(() => {
    latest.current = onChange
  })
  useEffect(() => {
    // The address changed by other means, such as going back.
    if (value !== sent.current) setTyped(value)
    sent.current = value
  }, [value])
  useEffect(() => {
    const timer = setTimeout(() => {
      const q = typed.trim()
      if (q === sent.current) return
      sent.current = q
      latest.current(q === '' ? undefined : q)
    }, TYPED_MS)
    return () => clearTimeout(timer)
  }, [typed])
  useShortcuts('Filter', {
    '/': { words: 'Filter by words of the title', run: () => field.current?.focus() },
  })
  return (
    <TextInput
      aria-label="Filter by words of the title"
      className="h-7! max-w-48 min-w-16 shrink text-row max-sm:h-9! max-sm:max-w-44"
      maxLength={200}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        setTyped('')
        field.current?.blur()
      }}
      placeholder="Filter by title  /"
      ref={field}
      type="search"
      value={typed}
    />
  )
}

function MoreFilters(props: Props) {
  const [isOpen, setOpen] = useState(false)
  const { project, mission, agent, tag } = props.search
  const count = [project, mission, agent, tag].filter(Boolean).length
  return (
    <Popover
      label="Filters"
      onOpenChange={setOpen}
      open={isOpen}
      trigger={
        <Button icon="filter" kind="quiet" size="small">
          <span className="sm:@max-[700px]:sr-only">Filter</span>
          {count > 0 && (
            <span className="hidden font-semibold text-ink tabular-nums sm:@max-[1000px]:inline">
              <span className="sr-only">, set: </span>
              {count}
            </span>
          )}
        </Button>
      }
    >
      <FilterFields {...props} onDone={() => setOpen(false)} />
    </Popover>
  )
}

const choices = (
  any: string,
  values: readonly { value: string; words: string }[],
  set: string | undefined,
) => [
  { value: '', words: any },
  ...values,
  ...(set && !values.some(({ value }) => value === set) ? [{ value: set, words: set }] : []),
]

/** Read only when the list is opened. */
function FilterFields({ search, onChange, onDone }: Props & { onDone: () => void }) {
  const { data: projects } = useQuery(projectsQuery)
  const { data: agents } = useQuery(agentNamesQuery)
  const { data: missions } = useQuery(missionsQuery)
  const [tag, setTag] = useState(search.tag ?? '')
  const set = (name: keyof Change) => (value: string) =>
    onChange({ [name]: value === '' ? undefined : value })
  return (
    <form
      className="flex w-64 flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        set('tag')(tag.trim())
        onDone()
      }}
    >
      <Field label="Project">
        <Select
          onChange={set('project')}
          options={choices(
            'Any project',
            (projects?.items ?? []).map(({ slug, name }) => ({ value: slug, words: name })),
            search.project,
          )}
          value={search.project ?? ''}
        />
      </Field>
      <Field label="Agent">
        <Select
          onChange={set('agent')}
          options={choices(
            'Any agent',
            (agents?.items ?? []).map(({ slug }) => ({ value: slug, words: slug })),
            search.agent,
          )}
          value={search.agent ?? ''}
        />
      </Field>
      <Field label="Mission">
        <Select
          onChange={set('mission')}
          options={choices(
            'Any mission',
            (missions?.items ?? []).map(({ id, title }) => ({ value: id, words: title })),
            search.mission,
          )}
          value={search.mission ?? ''}
        />
      </Field>
      <Field label="Tag">
        <TextInput maxLength={100} onChange={(event) => setTag(event.target.value)} value={tag} />
      </Field>
      <Button kind="primary" size="small" type="submit">
        Show
      </Button>
    </form>
  )
}
