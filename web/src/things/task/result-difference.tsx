import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Chip } from '../../parts/chip.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { api } from '../../requests/api.ts'
import { type Operation, type PatchRow, patchRows } from './patch-rows.ts'
import { textOfValue, ValueText } from './value-text.tsx'

/** A rejected result beside the accepted one, and what differs. */
export function ResultDifference({ taskId, resultRef }: { taskId: string; resultRef: string }) {
  const read = useQuery({
    queryKey: ['result-diff', taskId, resultRef],
    queryFn: ({ signal }) =>
      api().get('/tasks/:id/results/:ref/diff', { params: { id: taskId, ref: resultRef }, signal }),
    // Another result may be the accepted one when it is opened again.
    gcTime: 0,
  })
  const { data } = read
  if (!data) return <Loading read={read} rows={4} />
  const { accepted, result, isEqual, patch } = data
  if (accepted === null)
    return <p className="text-row text-muted">No result is accepted: there is nothing to compare it with.</p>
  if (isEqual) return <p className="text-row text-muted">It is the same as the accepted result.</p>
  const before = textOfValue(accepted.result)
  const after = textOfValue(result.result)
  const isText = typeof accepted.result === 'string' && typeof result.result === 'string'
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="grid gap-3 lg:grid-cols-2">
        <Side words={`Accepted, attempt ${accepted.generation}`}>
          <ValueText label="Accepted result" value={accepted.result} />
        </Side>
        <Side words={`This one, attempt ${result.generation}`}>
          <ValueText label="Rejected result" value={result.result} />
        </Side>
      </div>
      <h3 className="text-label font-medium text-muted">What differs</h3>
      {isText || patch === null ? (
        <Diff after={after} before={before} label="From the accepted result to this one" />
      ) : (
        <PatchTree accepted={accepted.result} patch={patch} />
      )}
    </div>
  )
}

const Side = ({ words, children }: { words: string; children: ReactNode }) => (
  <div className="min-w-0">
    <h3 className="mb-1 text-label font-medium text-muted">{words}</h3>
    {children}
  </div>
)

const MOST_ROWS = 500
const STEP_REM = 1.25

function PatchTree({ patch, accepted }: { patch: readonly Operation[]; accepted: unknown }) {
  const rows = patchRows(patch, accepted)
  return (
    <ul
      aria-label="Changes by path"
      className="flex flex-col rounded-card border border-line bg-raised px-3 py-2 font-mono text-row"
    >
      {rows.slice(0, MOST_ROWS).map((row) => (
        <li
          className="flex min-w-0 flex-wrap items-baseline gap-x-2 gap-y-0.5 py-0.5"
          key={row.key}
          style={{ paddingLeft: `${row.depth * STEP_REM}rem` }}
        >
          <span className={row.change ? 'font-medium wrap-anywhere' : 'text-muted wrap-anywhere'}>
            {row.name}
          </span>
          {row.change && <Change change={row.change} />}
        </li>
      ))}
      {rows.length > MOST_ROWS && <li className="text-muted">and {rows.length - MOST_ROWS} more changes</li>}
    </ul>
  )
}

const OPS: Record<string, { words: string; hue: 'done' | 'bad' | 'go' }> = {
  add: { words: 'added', hue: 'done' },
  remove: { words: 'removed', hue: 'bad' },
  replace: { words: 'changed', hue: 'go' },
}

const MOST_CHARACTERS = 400
const brief = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, MOST_CHARACTERS)

function Change({ change }: { change: NonNullable<PatchRow['change']> }) {
  const { words, hue } = OPS[change.op] ?? { words: change.op, hue: 'go' as const }
  return (
    <>
      <span className="font-sans">
        <Chip hue={hue}>{words}</Chip>
      </span>
      {change.before !== undefined && (
        <del className="bg-bad-tint px-1 wrap-anywhere no-underline">{brief(change.before)}</del>
      )}
      {change.after !== undefined && (
        <ins className="bg-done-tint px-1 wrap-anywhere no-underline">{brief(change.after)}</ins>
      )}
    </>
  )
}
