import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import {
  LISTED_FILTERS,
  type ListedFilter,
  type Wanted,
  wantedText,
} from '../../../../src/views/board/filter.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Popover } from '../../parts/popover.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { agentNamesQuery, missionNamesQuery, projectNamesQuery } from '../../requests/names.ts'
import {
  type Choice,
  choicesFor,
  FILTER_WORDS,
  PRIORITY_CHOICES,
  STATE_CHOICES,
  wantedWords,
} from './filter-names.ts'
import { valuesQuery } from './queries.ts'
import { type BoardSearch, type FilterChange, wantedOf, withValue } from './search.ts'

interface Props {
  search: BoardSearch
  onChange: (change: FilterChange) => void
}

/** All filters behind one button. What is chosen applies at once. */
export function FilterMenu(props: Props) {
  return (
    <Popover
      label="Filters"
      trigger={
        <Button icon="filter" kind="quiet" size="small">
          <span className="sm:@max-[760px]:sr-only">Filter</span>
        </Button>
      }
    >
      <FilterList {...props} />
    </Popover>
  )
}

/** Read only when the list is opened. */
function useChoices(): Record<ListedFilter, readonly Choice[]> {
  const { data: values } = useQuery(valuesQuery)
  const { data: projects } = useQuery(projectNamesQuery)
  const { data: agents } = useQuery(agentNamesQuery)
  const { data: missions } = useQuery(missionNamesQuery)
  const asIs = (value: string) => ({ value, words: value })
  return {
    state: STATE_CHOICES,
    priority: PRIORITY_CHOICES,
    type: values?.types.map(asIs) ?? [],
    tag: values?.tags.map(asIs) ?? [],
    agent: agents?.items.map(({ slug }) => asIs(slug)) ?? [],
    mission: missions?.items.map(({ id, title }) => ({ value: id, words: title })) ?? [],
    project: projects?.items.map(({ slug, name }) => ({ value: slug, words: name })) ?? [],
  }
}

function FilterList({ search, onChange }: Props) {
  const choices = useChoices()
  const [open, setOpen] = useState<ListedFilter | null>(
    () => LISTED_FILTERS.find((name) => search[name] !== undefined) ?? 'state',
  )
  return (
    <div className="flex max-h-[min(32rem,70vh)] w-72 max-w-full flex-col overflow-y-auto">
      {LISTED_FILTERS.map((name) => (
        <Section
          choices={choices[name]}
          isOpen={open === name}
          key={name}
          name={name}
          onChange={(wanted) => onChange({ [name]: wantedText(wanted) })}
          onToggle={() => setOpen(open === name ? null : name)}
          wanted={wantedOf(search, name)}
        />
      ))}
    </div>
  )
}

interface SectionProps {
  name: ListedFilter
  choices: readonly Choice[]
  wanted: Wanted
  isOpen: boolean
  onToggle: () => void
  onChange: (wanted: Wanted) => void
}

function Section({ name, choices, wanted, isOpen, onToggle, onChange }: SectionProps) {
  const id = useId()
  const nameOf = (value: string) => choices.find((one) => one.value === value)?.words ?? value
  const set = wantedWords(wanted, nameOf)
  return (
    <div className="border-b border-line last:border-0">
      <button
        aria-controls={id}
        aria-expanded={isOpen}
        className="touchable focus-inside flex min-h-8 w-full items-center gap-2 rounded-chip px-1 text-row font-medium hover:bg-hover"
        onClick={onToggle}
        type="button"
      >
        <Icon className="text-muted" name={isOpen ? 'chevron-down' : 'chevron-right'} size={12} />
        {FILTER_WORDS[name]}
        <span className="ml-auto min-w-0 truncate text-label font-normal text-muted">{set}</span>
      </button>
      {isOpen && (
        <div className="flex flex-col pb-2 pl-4" id={id}>
          <Values choices={choices} name={name} onChange={onChange} wanted={wanted} />
        </div>
      )}
    </div>
  )
}

/** More than these are narrowed by typing. */
const FEW = 10
const MOST_DRAWN = 100
/** Any name can be asked for, known or not. */
const FREE: readonly ListedFilter[] = ['tag', 'type', 'agent']

function Values({ name, choices, wanted, onChange }: Omit<SectionProps, 'isOpen' | 'onToggle'>) {
  const [typed, setTyped] = useState('')
  const found = choicesFor(choices, wanted, typed)
  const words = FILTER_WORDS[name].toLowerCase()
  const isFree = FREE.includes(name)
  const add = () => {
    const value = typed.trim()
    const one = found.length === 1 ? found[0]!.value : isFree ? value : ''
    if (one === '') return
    onChange(withValue(wanted, one, 'some'))
    setTyped('')
  }
  return (
    <>
      {(isFree || choices.length > FEW) && name !== 'state' && (
        <TextInput
          aria-label={`Find ${withArticle(words)}`}
          className="mb-1 h-7! text-row"
          maxLength={200}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && add()}
          placeholder={isFree ? `Find or type ${withArticle(words)}` : `Find ${withArticle(words)}`}
          value={typed}
        />
      )}
      {found.length === 0 && (
        <p className="px-1 py-1 text-label text-muted">{noneWords(words, isFree, typed)}</p>
      )}
      {found.slice(0, MOST_DRAWN).map(({ value, words: label }) => (
        <ValueRow
          as={wanted.some.includes(value) ? 'some' : wanted.none.includes(value) ? 'none' : null}
          key={value}
          label={label}
          onChange={(as) => onChange(withValue(wanted, value, as))}
        />
      ))}
    </>
  )
}

const withArticle = (word: string) => `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`

const noneWords = (words: string, isFree: boolean, typed: string) =>
  typed.trim() === ''
    ? `No ${words} is known yet.`
    : isFree
      ? `No such ${words} is known. Press Enter to filter by it.`
      : `No results for “${typed.trim()}”.`

function ValueRow(props: {
  label: string
  as: 'some' | 'none' | null
  onChange: (as: 'some' | 'none' | null) => void
}) {
  const { label, as, onChange } = props
  return (
    <div className="flex min-w-0 items-center gap-1">
      <label className="touchable flex min-h-7 min-w-0 flex-1 cursor-pointer items-center gap-2 rounded-chip px-1 text-row hover:bg-hover">
        <input
          checked={as === 'some'}
          className="size-4 shrink-0 accent-ink"
          onChange={() => onChange(as === 'some' ? null : 'some')}
          type="checkbox"
        />
        <span className={`truncate ${as === 'none' ? 'text-muted line-through' : ''}`} title={label}>
          {label}
        </span>
      </label>
      <button
        aria-label={`Not ${label}`}
        aria-pressed={as === 'none'}
        className={`touchable focus-inside h-6 rounded-chip px-2 text-label ${as === 'none' ? 'bg-ink text-bg' : 'text-muted hover:bg-hover hover:text-ink'}`}
        onClick={() => onChange(as === 'none' ? null : 'none')}
        type="button"
      >
        not
      </button>
    </div>
  )
}
