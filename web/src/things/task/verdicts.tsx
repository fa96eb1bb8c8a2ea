import { PageLink } from '../../links.tsx'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Money } from '../../parts/money.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import type { Task } from './use-task.ts'
import { ValueText } from './value-text.tsx'

type Verdict = Task['verifications'][number]

const LOOKS = { pass: 'done', fail: 'bad', unsure: 'ask' } as const

/** Who judged a result, how, and on what evidence. */
export function Verdicts({ verdicts }: { verdicts: readonly Verdict[] }) {
  if (verdicts.length === 0) return null
  return (
    <ul aria-label="Verdicts" className="flex flex-col gap-2">
      {verdicts.map((verdict) => (
        <li
          className="flex flex-col gap-2 rounded-card border border-line bg-raised p-3"
          key={verdict.taskId}
        >
          <div className="flex flex-wrap items-center gap-2 text-row">
            {verdict.verdict === null ? (
              <StateChip state={verdict.state} />
            ) : (
              <Chip hue={LOOKS[verdict.verdict]}>{verdict.verdict}</Chip>
            )}
            {verdict.score !== null && (
              <span className="font-medium tabular-nums">score {verdict.score}</span>
            )}
            {verdict.verifier && <AgentChip slug={verdict.verifier} />}
            {verdict.costUsd !== null && (
              <span className="text-muted">
                <Money simulated={verdict.isSimulated && 'words'} usd={verdict.costUsd} />
              </span>
            )}
            <PageLink className="ml-auto text-accent hover:underline" to={`/tasks/${verdict.taskId}`}>
              open the verification
            </PageLink>
          </div>
          {verdict.feedback && <Markdown text={verdict.feedback} />}
          {verdict.evidence.length > 0 && (
            <details>
              <summary className="touchable cursor-pointer text-row text-muted hover:text-ink">
                Evidence {verdict.evidence.length}
              </summary>
              <div className="mt-2">
                <ValueText label="Evidence" value={verdict.evidence} />
              </div>
            </details>
          )}
        </li>
      ))}
    </ul>
  )
}
