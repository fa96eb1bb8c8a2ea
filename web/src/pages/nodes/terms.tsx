import { Moment } from '../../parts/moment.tsx'
import { countText } from '../../parts/wording.ts'
import { endWords, type Node, type Status } from './node-words.ts'

/** Who led before, the present leader first. */
export function Terms({ terms, nodes }: { terms: Status['terms']; nodes: readonly Node[] }) {
  if (terms.length === 0) return null
  const nameOf = (id: string) => nodes.find((node) => node.id === id)?.name ?? 'a node that is gone'
  return (
    <details className="rounded-card border border-line bg-raised">
      <summary className="cursor-pointer px-4 py-2.5 text-row font-medium">
        Leaders so far: {countText(terms.length)}
      </summary>
      <ul className="border-t border-line">
        {terms.map(({ term, nodeId, takenAt, endedAt, endReason }) => (
          <li
            className="flex flex-wrap gap-x-4 px-4 py-1.5 text-row not-first:border-t not-first:border-line"
            key={term}
          >
            <span className="w-20 text-muted tabular-nums">Term {countText(term)}</span>
            <span className="min-w-0 flex-1 break-words">{nameOf(nodeId)}</span>
            <span className="text-muted">
              since <Moment at={takenAt} />
            </span>
            <span className="text-muted">
              {endedAt === null ? 'leads now' : endWords(endReason)}{' '}
              {endedAt !== null && <Moment at={endedAt} />}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
