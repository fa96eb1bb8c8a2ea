import { lazy, Suspense } from 'react'
import type { DiffSource } from './diff-source.ts'
import { Skeleton } from './skeleton.tsx'

const DiffLines = lazy(() => import('./diff-lines.tsx').then(({ DiffLines }) => ({ default: DiffLines })))

/** What changed, line by line: two texts, or a unified diff of one or more files, with their names unless they are named beside it. */
export function Diff(props: DiffSource & { label?: string; hasNames?: boolean }) {
  return (
    <Suspense fallback={<Skeleton rowHeight={20} rows={6} />}>
      <DiffLines {...props} />
    </Suspense>
  )
}
