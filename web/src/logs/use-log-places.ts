import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { lineNumbers } from './line-numbers.ts'
import type { Line } from './lines.ts'
import { outlineQuery } from './log-reads.ts'
import type { LogMark } from './marks.ts'

/** What the outline contains: marks for the scrubber, where errors are, and the numbers of the lines in memory. */
export function useLogPlaces(runId: string, lines: readonly Line[], hits: readonly number[]) {
  const { data } = useQuery(outlineQuery(runId))
  const marks = useMemo<LogMark[]>(
    () => [
      ...(data?.steps.offsets.map((offset) => ({ offset, kind: 'step' as const })) ?? []),
      ...(data?.stderr.offsets.map((offset) => ({ offset, kind: 'stderr' as const })) ?? []),
      ...hits.map((offset) => ({ offset, kind: 'hit' as const })),
      ...(data?.errors.offsets.map((offset) => ({ offset, kind: 'error' as const })) ?? []),
    ],
    [data, hits],
  )
  const numbers = useMemo(() => (data ? lineNumbers(lines, data) : null), [lines, data])
  return { marks, numbers, errors: data?.errors.offsets ?? [], outline: data }
}
