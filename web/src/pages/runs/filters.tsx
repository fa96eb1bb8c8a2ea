import { useQuery } from '@tanstack/react-query'
import { RUN_ERRORS } from '../../../../src/kinds/run/rules/outcomes.ts'
import { RUN_STATES } from '../../../../src/kinds/run/states.ts'
import { Chip } from '../../parts/chip.tsx'
import { Select } from '../../parts/select.tsx'
import { agentNamesQuery } from '../../requests/names.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { SOURCE_WORDS } from '../../things/run/run.ts'
import { ERROR_CODES, type RunFilter, SOURCES } from './search.ts'

interface Props {
  filter: RunFilter
  onChange: (change: RunFilter) => void
}

/** One choice for each property of a run, the first two on a phone; a task or a mission comes with the address. */
export function Filters({ filter, onChange }: Props) {
  const choice = <Name extends 'status' | 'source' | 'errorCode'>(
    name: Name,
    label: string,
    any: string,
    values: readonly NonNullable<RunFilter[Name]>[],
    wordsOf: (value: NonNullable<RunFilter[Name]>) => string,
  ) => (
    <Select
      aria-label={label}
      className={`max-w-48 ${name === 'status' || filter[name] !== undefined ? '' : 'max-sm:hidden'}`}
      onChange={(value) => onChange({ [name]: value === '' ? undefined : value })}
      options={[
        { value: '', words: any },
        ...values.map((value) => ({ value: value as string, words: wordsOf(value) })),
      ]}
      size="small"
      value={(filter[name] as string | undefined) ?? ''}
    />
  )
  return (
    <>
      {choice('status', 'Status', 'Any status', RUN_STATES, (state) => STATE_LOOKS[state].word)}
      <AgentFilter filter={filter} onChange={onChange} />
      {choice('source', 'Why', 'Any reason', SOURCES, (source) => SOURCE_WORDS[source])}
      {choice('errorCode', 'Failure', 'Any end', ERROR_CODES, (code) => RUN_ERRORS[code].title)}
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

function AgentFilter({ filter, onChange }: Props) {
  const { data } = useQuery(agentNamesQuery)
  const slugs = new Set(data?.items.map(({ slug }) => slug))
  if (filter.agent) slugs.add(filter.agent)
  return (
    <Select
      aria-label="Agent"
      className="max-w-48"
      onChange={(agent) => onChange({ agent: agent === '' ? undefined : agent })}
      options={[
        { value: '', words: 'Any agent' },
        ...[...slugs].sort().map((slug) => ({ value: slug, words: slug })),
      ]}
      size="small"
      value={filter.agent ?? ''}
    />
  )
}
