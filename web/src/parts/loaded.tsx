import { type ReactNode, useContext } from 'react'
import { CutOffAt } from './clock.ts'
import { ProblemBox } from './problem.tsx'
import { Skeleton } from './skeleton.tsx'

/** A read in its states, as useQuery and useSnapshot return it. */
interface Read<T> {
  data: T | undefined
  error: unknown
  refetch: () => unknown
}

interface Props<T> {
  read: Read<T>
  /** The geometry of what is loading. */
  rows: number
  rowHeight?: number
  label?: string
  /** Classes of the space around it, where the answer has its own. */
  className?: string
}

/** In place of an answer that is not there: what went wrong and another try, or the geometry of what is loading. */
export function Loading({ read: { error, refetch }, className, ...skeleton }: Props<unknown>): ReactNode {
  const isCutOff = useContext(CutOffAt) !== null
  const shown = error ? (
    <ProblemBox error={error} onRetry={() => void refetch()} />
  ) : isCutOff ? (
    <p className="py-4 text-muted" role="status">
      There is no connection to the server, and this was not loaded before. It appears when the connection is
      back.
    </p>
  ) : (
    <Skeleton {...skeleton} />
  )
  return className === undefined ? shown : <div className={className}>{shown}</div>
}

const hasNone = (data: unknown) => {
  const items = Array.isArray(data) ? data : (data as { items?: unknown }).items
  return Array.isArray(items) && items.length === 0
}

/** The answer as soon as it is there, or `empty` if it is a list of nothing. A later read that fails leaves it on the page. */
export function Loaded<T>(
  props: Props<T> & { empty?: ReactNode; children: (data: NonNullable<T>) => ReactNode },
): ReactNode {
  const { empty, children, ...loading } = props
  const { data } = loading.read
  if (data === undefined || data === null) return <Loading {...loading} />
  return empty !== undefined && hasNone(data) ? empty : children(data)
}
