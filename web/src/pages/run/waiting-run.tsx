import { Empty } from '../../parts/empty.tsx'

/** A run that has not begun has neither log nor steps. */
export function WaitingRun({ agent }: { agent: string }) {
  return (
    <Empty
      drawing="path"
      text={`It starts as soon as a node has a free slot and ${agent} may run.`}
      title="Waiting to start"
    />
  )
}
