import { lazy, Suspense } from 'react'
import { Skeleton } from './skeleton.tsx'

const DiffLines = lazy(() => import('./diff-lines.tsx').then(({ DiffLines }) => ({ default: DiffLines })))

export type DiffSource = { before: string; after: string } | { patch: string }

/** What changed, line by line: two texts, or a unified diff of one or more files. */
export function Diff(props: DiffSource & { label?: string }) {
  return (
    <Suspense fallback={<Skeleton rowHeight={20} rows={6} />}>
      <DiffLines {...props} />
    </Suspense>
  )
}
