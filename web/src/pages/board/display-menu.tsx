import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Popover } from '../../parts/popover.tsx'
import { Select } from '../../parts/select.tsx'
import {
  ALWAYS,
  chosenColumns,
  columnNamed,
  columnsText,
  type ListColumnName,
  listColumnNames,
} from './list-values.ts'
import { type BoardSearch, GROUPS, type GroupBy } from './search.ts'

const GROUP_WORDS = {
  mission: 'Mission',
  agent: 'Agent',
  project: 'Project',
} as const satisfies Record<GroupBy, string>

interface DisplayChange {
  group?: GroupBy | undefined
  columns?: string[] | undefined
}

interface Props {
  search: BoardSearch
  onChange: (change: DisplayChange) => void
  onSave: () => void
  isSaving: boolean
}

/** How the tasks are shown: in groups, with which columns, and as a file. */
export function DisplayMenu({ search, onChange, onSave, isSaving }: Props) {
  return (
    <Popover
      align="end"
      label="Display"
      trigger={
        <Button icon="settings" kind="quiet" size="small">
          <span className="max-sm:sr-only sm:@max-[900px]:sr-only">Display</span>
        </Button>
      }
    >
      <div className="flex w-60 flex-col gap-4">
        <Field label="Group by">
          <Select
            onChange={(group) => onChange({ group: group === '' ? undefined : group })}
            options={[
              { value: '' as const, words: 'Nothing' },
              ...GROUPS.map((value) => ({ value, words: GROUP_WORDS[value] })),
            ]}
            size="small"
            value={search.group ?? ''}
          />
        </Field>
        {search.view === 'list' && <Columns onChange={onChange} search={search} />}
        <div className="flex flex-col items-start gap-1">
          <Button busy={isSaving} icon="download" onClick={onSave} size="small">
            Save as CSV
          </Button>
          <p className="text-label text-muted">The tasks of these filters, with the columns of the list.</p>
        </div>
      </div>
    </Popover>
  )
}

function Columns({ search, onChange }: Pick<Props, 'search' | 'onChange'>) {
  const chosen = chosenColumns(search.columns)
  const toggle = (name: ListColumnName) =>
    onChange({
      columns: columnsText(chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]),
    })
  return (
    <fieldset className="flex flex-col">
      <legend className="pb-1 text-row font-medium">Columns</legend>
      {listColumnNames
        .filter((name) => name !== ALWAYS)
        .map((name) => (
          <label
            className="touchable flex min-h-7 cursor-pointer items-center gap-2 rounded-chip px-1 text-row hover:bg-hover"
            key={name}
          >
            <input
              checked={chosen.includes(name)}
              className="size-4 accent-ink"
              onChange={() => toggle(name)}
              type="checkbox"
            />
            {columnNamed(name).words}
          </label>
        ))}
    </fieldset>
  )
}
