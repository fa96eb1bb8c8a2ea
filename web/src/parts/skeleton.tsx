import { Late } from './late.tsx'

const block = 'rounded-chip bg-hover'

/** The geometry of what is being loaded: rows of this height, or with `className` one block. Never "none" while it is not known. */
export function Skeleton(props: { rows?: number; rowHeight?: number; className?: string; label?: string }) {
  const { rows = 1, rowHeight = 36, className, label = 'Loading' } = props
  return (
    <Late>
      <div aria-busy="true" className="w-full animate-fade" role="status">
        <span className="sr-only">{label}</span>
        {className !== undefined ? (
          <div className={`${block} ${className}`} />
        ) : (
          Array.from({ length: rows }, (_, row) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: blocks without content
            <div className="flex items-center gap-3" key={row} style={{ height: rowHeight }}>
              <div className={`${block} size-4 shrink-0`} />
              <div className={`${block} h-3`} style={{ width: `${28 + ((row * 37) % 40)}%` }} />
              <div className={`${block} ml-auto h-3 w-16 shrink-0`} />
            </div>
          ))
        )}
      </div>
    </Late>
  )
}
