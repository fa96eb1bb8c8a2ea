import { useMemo } from 'react'
import { transcriptReader } from '../../../../src/transcript/reader.ts'
import { Skeleton } from '../../parts/skeleton.tsx'
import { foldedSteps } from './fold.ts'
import { StepRowView } from './step-row.tsx'

const SHOWN_ROWS = 20
const nothing = () => {}

/** The last steps in what the record of a run carries of its output, until its log is read. Their places in the log are not known. */
export function ExcerptSteps({ adapterType, text }: { adapterType: string; text: string | null }) {
  const rows = useMemo(() => {
    const reader = transcriptReader(adapterType)
    const steps = new Map(
      [...reader.take(0, 'stdout', text ?? ''), ...reader.end()].map((step) => [step.n, step]),
    )
    return foldedSteps([...steps.values()], 'all', false).slice(-SHOWN_ROWS)
  }, [adapterType, text])
  return (
    <div aria-busy="true" className="min-h-0 flex-1 overflow-hidden" inert>
      {rows.length === 0 ? (
        <div className="px-6 max-sm:px-4">
          <Skeleton label="Loading the steps" rows={8} />
        </div>
      ) : (
        rows.map((row) => (
          <StepRowView
            isOpen={false}
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
