import { useState } from 'react'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { countText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import { EditThreshold } from './edit-threshold.tsx'
import { defaultOf, durationOf, isOfInstance, measureOf, type Threshold, titleOf } from './threshold-words.ts'

/** From which figures on alerts are raised: the defaults, and what this workspace has set instead. */
export function Thresholds() {
  const read = useSnapshot(['thresholds'], ({ signal }) => api().read('/thresholds', { signal }), {
    follows: about.thresholds,
  })
  const [edited, setEdited] = useState<Threshold['cause'] | null>(null)
  return (
    <div className="flex flex-col gap-4">
      <p className="max-w-prose text-row text-muted">
        An alert is raised when a figure is above its threshold, and is over when it no longer is. Figures
        that change with time alone are checked once a minute. Alerts about single tasks, agents, budgets and
        the like have no threshold.
      </p>
      <Loaded read={read} rowHeight={52} rows={9}>
        {({ items }) => {
          const open = items.find(({ cause }) => cause === edited)
          return (
            <>
              <Table items={items} onEdit={setEdited} />
              {open && <EditThreshold onClose={() => setEdited(null)} threshold={open} />}
            </>
          )
        }}
      </Loaded>
    </div>
  )
}

const HEAD = 'py-1.5 pl-4 font-medium whitespace-nowrap max-sm:pl-2'

function Table({
  items,
  onEdit,
}: {
  items: readonly Threshold[]
  onEdit: (cause: Threshold['cause']) => void
}) {
  return (
    <table aria-label="Thresholds of alerts" className="w-full max-w-200 text-row">
      <thead>
        <tr className="text-label text-muted">
          <th className="py-1.5 text-left font-medium" scope="col">
            Alert
          </th>
          <th className={`${HEAD} text-right`} scope="col">
            Raised above
          </th>
          <th className={`${HEAD} text-right max-sm:hidden`} scope="col">
            Default
          </th>
          <th className={`${HEAD} text-left`} scope="col">
            State
          </th>
          <th className="py-1.5 pl-4" scope="col">
            <span className="sr-only">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((threshold) => (
          <Row key={threshold.cause} onEdit={() => onEdit(threshold.cause)} threshold={threshold} />
        ))}
      </tbody>
    </table>
  )
}

function Row({ threshold, onEdit }: { threshold: Threshold; onEdit: () => void }) {
  const { cause, value, isOn, setBy } = threshold
  const title = titleOf(threshold)
  const usual = defaultOf(threshold)
  const reset = useAct(
    () => api().delete('/thresholds/:cause', { params: { cause } }),
    `${title}: the default counts again.`,
    { right: 'admin' },
  )
  return (
    <tr className="border-t border-line">
      <th className="py-1.5 text-left font-normal" scope="row">
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="font-medium">{title}</span>
          {setBy === 'workspace' && <Chip hue="go">yours</Chip>}
        </span>
        <span className="block text-label text-muted">
          {measureOf(threshold)}
          {isOfInstance(threshold) && ' · whole instance, counts in its first workspace only'}
        </span>
      </th>
      <td className="py-1.5 pl-4 text-right tabular-nums max-sm:pl-2">
        <Figure threshold={threshold} value={value} />
      </td>
      <td className="py-1.5 pl-4 text-right text-muted tabular-nums max-sm:hidden">
        <Figure threshold={threshold} value={usual.value} />
        {!usual.isOn && <span className="block text-label">off</span>}
      </td>
      <td className={`py-1.5 pl-4 max-sm:pl-2 ${isOn ? '' : 'text-muted'}`}>{isOn ? 'on' : 'off'}</td>
      <td className="py-1.5 pl-4 max-sm:pl-2">
        <span className="flex justify-end gap-1 max-sm:flex-col max-sm:items-end">
          <Button
            aria-label={`Change the threshold: ${title}`}
            disabledReason={reset.whyNot}
            kind="quiet"
            onClick={onEdit}
            size="small"
          >
            Change
          </Button>
          {setBy === 'workspace' && (
            <Button
              aria-label={`Back to the default: ${title}`}
              busy={reset.isBusy}
              disabledReason={reset.whyNot}
              kind="quiet"
              onClick={() => reset.run()}
              size="small"
            >
              Reset
            </Button>
          )}
        </span>
      </td>
    </tr>
  )
}

/** A number, and below it the duration that it is. */
function Figure({ threshold, value }: { threshold: Threshold; value: number }) {
  const duration = durationOf(threshold, value)
  return (
    <>
      {countText(value)}
      {duration !== null && <span className="block text-label text-muted">{duration}</span>}
    </>
  )
}
