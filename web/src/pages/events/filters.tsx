import { useQuery } from '@tanstack/react-query'
import { useEffect, useId, useState } from 'react'
import { Chip } from '../../parts/chip.tsx'
import { Select } from '../../parts/select.tsx'
import { agentNamesQuery } from '../../requests/names.ts'
import {
  ACTOR_WORDS,
  ENTITY_WORDS,
  isTypeText,
  LEVEL_WORDS,
  SINCE_WORDS,
  TYPE_PATTERNS,
} from './event-words.ts'
import { ACTORS, ENTITIES, type EventFilter, LEVELS, SINCE } from './search.ts'

interface Props {
  filter: EventFilter
  onChange: (change: { [Name in keyof EventFilter]?: EventFilter[Name] | undefined }) => void
}

const optionsOf = <Name extends string>(
  any: string,
  names: readonly Name[],
  wordsOf: (name: Name) => string,
) => [{ value: '', words: any }, ...names.map((name) => ({ value: name as string, words: wordsOf(name) }))]

/** What of the log is shown. Where there is little room only the first two are offered, and what is set. */
export function Filters({ filter, onChange }: Props) {
  return (
    <>
      <TypeField key={filter.type ?? ''} onChange={(type) => onChange({ type })} type={filter.type} />
      <Choice
        label="Level"
        onChange={(value) => onChange({ level: LEVELS.find((one) => one === value) })}
        options={optionsOf('Any level', LEVELS.slice(1), (level) =>
          level === 'CRITICAL'
            ? 'Critical only'
            : level === 'INFO'
              ? 'Without details'
              : `${LEVEL_WORDS[level].words} or worse`,
        )}
        value={filter.level}
      />
      <Choice
        isWide
        label="About"
        onChange={(value) => onChange({ entity: ENTITIES.find((one) => one === value) })}
        options={optionsOf('About anything', ENTITIES, (entity) => ENTITY_WORDS[entity])}
        value={filter.entity}
      />
      <Choice
        isWide
        label="By"
        onChange={(value) => onChange({ by: ACTORS.find((one) => one === value) })}
        options={optionsOf('By anybody', ACTORS, (actor) => ACTOR_WORDS[actor])}
        value={filter.by}
      />
      <AgentChoice filter={filter} onChange={onChange} />
      <Choice
        isWide
        label="Time"
        onChange={(value) => onChange({ since: SINCE.find((one) => one === value) })}
        options={optionsOf('Any time', SINCE, (since) => SINCE_WORDS[since])}
        value={filter.since}
      />
      {(['task', 'mission'] as const).map(
        (name) =>
          filter[name] && (
            <Chip key={name} onRemove={() => onChange({ [name]: undefined })} title={filter[name]}>
              of one {name}
            </Chip>
          ),
      )}
    </>
  )
}

function Choice(props: {
  label: string
  value: string | undefined
  options: { value: string; words: string }[]
  onChange: (value: string) => void
  isWide?: boolean
}) {
  const { label, value, options, onChange, isWide = false } = props
  return (
    <Select
      aria-label={label}
      className={`max-w-44 ${isWide && value === undefined ? '@max-[620px]:hidden' : ''}`}
      onChange={onChange}
      options={options}
      size="small"
      value={value ?? ''}
    />
  )
}

function AgentChoice({ filter, onChange }: Props) {
  const { data } = useQuery(agentNamesQuery)
  const slugs = new Set(data?.items.map(({ slug }) => slug))
  if (filter.agent) slugs.add(filter.agent)
  return (
    <Choice
      isWide
      label="Agent"
      onChange={(agent) => onChange({ agent: agent === '' ? undefined : agent })}
      options={optionsOf('Any agent', [...slugs].sort(), (slug) => slug)}
      value={filter.agent}
    />
  )
}

/** A type or its beginning. It counts with Enter, or when the field is left. */
function TypeField({
  type,
  onChange,
}: {
  type: string | undefined
  onChange: (type: string | undefined) => void
}) {
  const [text, setText] = useState(type ?? '')
  const list = useId()
  const written = text.replace(/\s/g, '')
  const isWrong = written !== '' && !isTypeText(written)
  const commit = () => {
    const next = written === '' ? undefined : written
    if (next !== type && !isWrong) onChange(next)
  }
  // One that was chosen from the list is complete.
  const isOffered = (TYPE_PATTERNS as readonly string[]).includes(written)
  const latest = { commit }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what was chosen is a reason
  useEffect(() => {
    if (isOffered) latest.commit()
  }, [isOffered])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        commit()
      }}
    >
      <input
        aria-invalid={isWrong || undefined}
        aria-label="Type"
        className="h-7 w-36 rounded-card border border-edge bg-bg px-2 font-mono text-label text-ink placeholder:font-sans hover:border-muted aria-invalid:border-bad max-sm:h-11"
        data-events-type
        list={list}
        onBlur={commit}
        onChange={(event) => setText(event.target.value)}
        placeholder="Type: task_*"
        title="A type, or its beginning and an asterisk; several with commas"
        value={text}
      />
      <datalist id={list}>
        {TYPE_PATTERNS.map((pattern) => (
          <option key={pattern} value={pattern} />
        ))}
      </datalist>
    </form>
  )
}
