import { useQueries, useQuery } from '@tanstack/react-query'
import { LISTED_FILTERS, type ListedFilter, type Wanted } from '../../../../src/views/board/filter.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { projectNamesQuery } from '../../requests/names.ts'
import { FilterMenu } from './filter-menu.tsx'
import { FILTER_WORDS, STATE_CHOICES, wantedWords } from './filter-names.ts'
import { missionQuery } from './queries.ts'
import { type BoardSearch, type FilterChange, wantedOf } from './search.ts'
import { TitleField } from './title-field.tsx'

interface Props {
  search: BoardSearch
  onChange: (change: FilterChange) => void
}

/** Words of the title in a field, and all other filters behind one button. */
export function Filters({ search, onChange }: Props) {
  return (
    <>
      <TitleField onChange={(q) => onChange({ q })} value={search.q ?? ''} />
      <FilterMenu onChange={onChange} search={search} />
    </>
  )
}

/** The filters that are set, in a line of their own: however many there are, the head stays as it is. */
export function FilterBar({ search, onChange }: Props) {
  const set = LISTED_FILTERS.filter((name) => search[name] !== undefined)
  if (set.length === 0) return null
  const none = Object.fromEntries(set.map((name) => [name, undefined]))
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 px-6 pb-3 max-sm:px-4">
      {set.map((name) => (
        <FilterChip
          key={name}
          name={name}
          onRemove={() => onChange({ [name]: undefined })}
          wanted={wantedOf(search, name)}
        />
      ))}
      {set.length > 1 && (
        <Button kind="quiet" onClick={() => onChange(none)} size="small">
          Clear all
        </Button>
      )}
    </div>
  )
}

interface ChipProps {
  name: ListedFilter
  wanted: Wanted
  onRemove: () => void
}

function FilterChip(props: ChipProps) {
  if (props.name === 'mission') return <MissionChip {...props} />
  if (props.name === 'project') return <ProjectChip {...props} />
  return <Named {...props} nameOf={(value) => (props.name === 'state' ? stateWord(value) : value)} />
}

const stateWord = (state: string) => STATE_CHOICES.find(({ value }) => value === state)?.words ?? state

function Named({ name, wanted, onRemove, nameOf }: ChipProps & { nameOf: (value: string) => string }) {
  const words = `${FILTER_WORDS[name].toLowerCase()}: ${wantedWords(wanted, nameOf)}`
  return (
    <Chip onRemove={onRemove} removeLabel={`Remove filter ${FILTER_WORDS[name].toLowerCase()}`} title={words}>
      {words}
    </Chip>
  )
}

/** Titles that one request each is worth. */
const MOST_READ = 3

function MissionChip(props: ChipProps) {
  const ids = [...props.wanted.some, ...props.wanted.none].slice(0, MOST_READ)
  const missions = useQueries({ queries: ids.map(missionQuery) })
  const titles = new Map(ids.map((id, place) => [id, missions[place]?.data?.title]))
  return <Named {...props} nameOf={(id) => titles.get(id) ?? '…'} />
}

function ProjectChip(props: ChipProps) {
  const { data } = useQuery(projectNamesQuery)
  return <Named {...props} nameOf={(slug) => data?.items.find((one) => one.slug === slug)?.name ?? slug} />
}
