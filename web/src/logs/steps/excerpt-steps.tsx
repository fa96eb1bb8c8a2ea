import { useMemo } from 'react'
import { transcriptReader } from '../../../../src/transcript/reader.ts'
import { Skeleton } from '../../parts/skeleton.tsx'
import type { Excerpts } from '../excerpt.tsx'
import { foldedSteps } from './fold.ts'
import { StepRowView } from './step-row.tsx'

const SHOWN_ROWS = 20
/** So that what it printed as errors does not push its last steps out of view. */
const SHOWN_ERRORS = 6
const nothing = () => {}

/** Each stream as steps of its own: where they met in the log is not known. */
function rowsOf(adapterType: string, { stdout, stderr }: Excerpts) {
  const reader = transcriptReader(adapterType)
  const take = (stream: 'stdout' | 'stderr', text: string | null) => {
    const steps = new Map(
      [...reader.take(0, stream, text ?? ''), ...reader.end()].map((step) => [step.n, step]),
    )
    return foldedSteps([...steps.values()], 'all', false)
  }
  const [printed, errors] = [take('stdout', stdout), take('stderr', stderr).slice(-SHOWN_ERRORS)]
  // The ends of both are read, and not only named.
  const open = new Set([printed.at(-1)?.key, errors.at(-1)?.key])
  return [...printed.slice(errors.length - SHOWN_ROWS), ...errors].map((row) => ({
    row,
    isOpen: open.has(row.key),
  }))
}

/** The last steps in what the record of a run carries of its output, until its log is read. Their places in the log are not known. */
export function ExcerptSteps({ adapterType, excerpts }: { adapterType: string; excerpts: Excerpts }) {
  const { stdout, stderr } = excerpts
  const rows = useMemo(() => rowsOf(adapterType, { stdout, stderr }), [adapterType, stdout, stderr])
  return (
    <div aria-busy="true" className="min-h-0 flex-1 overflow-hidden" inert>
      {rows.length === 0 ? (
        <div className="px-6 max-sm:px-4">
          <Skeleton label="Loading the steps" rows={8} />
        </div>
      ) : (
        rows.map(({ row, isOpen }) => (
          <StepRowView
            isOpen={isOpen}
            isSelected={false}
            key={row.key}
            onRaw={nothing}
            onSelect={nothing}
            onToggle={nothing}
            row={row}
            tokensOfRun={0}
          />
        ))
      )}
    </div>
  )
}
