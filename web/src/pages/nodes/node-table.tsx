import { Chip } from '../../parts/chip.tsx'
import { Moment } from '../../parts/moment.tsx'
import { countText } from '../../parts/wording.ts'
import type { Hue } from '../../theme/marks.ts'
import { lagWords, loadWords, type Node, runsWords, STATE_WORDS } from './node-words.ts'

const HUES: Record<Node['state'], Hue> = { alive: 'done', silent: 'bad', stopped: 'wait' }

/** The nodes, those that are alive first. Where there is no room, a row has two lines. */
export function NodeTable({ nodes, lastPassAt }: { nodes: readonly Node[]; lastPassAt: number | null }) {
  return (
    <ul aria-label="Nodes" className="rounded-card border border-line bg-raised">
      {nodes.map((node) => (
        <li
          className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 not-first:border-t not-first:border-line"
          key={node.id}
        >
          <span className="flex min-w-0 flex-1 basis-60 flex-wrap items-center gap-2">
            <span className="min-w-0 text-body font-medium break-words">{node.name}</span>
            <Chip hue={HUES[node.state]}>{STATE_WORDS[node.state]}</Chip>
            {node.leads && (
              <Chip hue="go">leader{node.term === null ? '' : `, term ${countText(node.term)}`}</Chip>
            )}
          </span>
          <span className="flex flex-wrap gap-x-4 gap-y-1 text-row text-muted tabular-nums">
            {node.leads && lastPassAt !== null && (
              <span>
                last pass <Moment at={lastPassAt} />
              </span>
            )}
            <span>{runsWords(node)}</span>
            {node.state === 'alive' && node.cpu !== null && <span>{loadWords(node.cpu)}</span>}
            {node.state === 'alive' && node.lagMs !== null && <span>{lagWords(node.lagMs)}</span>}
            <span>version {node.version}</span>
            <span>process {node.pid}</span>
            <span>{seen(node)}</span>
            <span>
              started <Moment at={node.startedAt} />
            </span>
          </span>
        </li>
      ))}
    </ul>
  )
}

function seen({ state, stoppedAt, lastSeenAt }: Node) {
  if (state === 'stopped' && stoppedAt !== null)
    return (
      <>
        stopped <Moment at={stoppedAt} />
      </>
    )
  // One that is alive says so every two seconds: when exactly is no news.
  if (state === 'alive') return 'seen just now'
  return (
    <>
      last seen <Moment at={lastSeenAt} />
    </>
  )
}
