import { mayBeDone } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import { causeOf } from '../../../../src/pure/cause.ts'
import { PageLink } from '../../links.tsx'
import { useCard } from '../../live/hooks.ts'
import { Button } from '../../parts/button.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { useSession } from '../../requests/session.ts'
import { useTaskActs } from '../../requests/use-task-acts.ts'
import { useResume } from '../../things/agent/use-agent-acts.ts'
import { showOutcome } from '../../things/task/ask/show-outcome.ts'
import { ValueText } from '../../things/task/value-text.tsx'
import { type EndingAct, endingOf } from './ending.ts'
import type { Run } from './use-run.ts'

const MOST_LINES = 3

/** Why the run failed, what that means for its task and its agent, and the one act that helps. */
export function EndedBadly({ run }: { run: Run }) {
  if (run.errorCode === null) return null
  return run.taskId === null ? <Ending run={run} /> : <EndingWithTask run={run} taskId={run.taskId} />
}

function EndingWithTask({ run, taskId }: { run: Run; taskId: string }) {
  const card = useCard(taskId)
  // Of a task that another run came after, nothing can be said.
  const isNewest = card?.generation === run.generation
  return <Ending hasAttemptsLeft={isNewest ? card?.state !== 'failed' : null} run={run} />
}

function Ending({ run, hasAttemptsLeft = null }: { run: Run; hasAttemptsLeft?: boolean | null }) {
  const ending = endingOf(run, hasAttemptsLeft)
  if (!ending) return null
  return (
    <section
      aria-label="Why it ended"
      className="mx-6 mb-3 rounded-card border border-line bg-bad-tint p-3 max-sm:mx-4"
    >
      <div className="flex gap-3 max-sm:flex-wrap">
        <span className="mt-0.5">
          <StateMark state={run.status} />
        </span>
        <div className="min-w-0 flex-1 text-row max-sm:basis-[calc(100%-3rem)]">
          <p className="text-body font-semibold text-bad" title={run.errorCode ?? undefined}>
            {ending.title}
          </p>
          {run.errorMessage && <Message text={run.errorMessage} />}
          <p className="mt-1">{[ending.forTask, ending.forAgent, ending.next].filter(Boolean).join(' ')}</p>
          {ending.command && (
            <div className="mt-2 max-w-120">
              <Copyable isBlock text={ending.command} />
            </div>
          )}
        </div>
        <Act act={ending.act} run={run} />
      </div>
    </section>
  )
}

/** The cause; all of a long message on request: the steps below are what its reader came for. */
function Message({ text }: { text: string }) {
  const cause = causeOf(text)
  const lines = text.split('\n').length
  if (lines <= MOST_LINES) return <p className="mt-0.5 wrap-anywhere whitespace-pre-wrap">{text}</p>
  return (
    <>
      <p className="mt-0.5 font-medium wrap-anywhere">{cause}</p>
      <details className="mt-1">
        <summary className="text-muted">All {lines} lines of the message</summary>
        <div className="mt-1">
          <ValueText label="The whole message" value={text} />
        </div>
      </details>
    </>
  )
}

const LINK =
  'touchable inline-flex h-7 shrink-0 items-center self-start rounded-card border border-edge bg-raised px-2 text-row font-medium hover:bg-hover'

function Act({ act, run }: { act: EndingAct; run: Run }) {
  if (act === 'open_task' && run.taskId !== null) return <OnTask run={run} taskId={run.taskId} />
  if (act === 'open_agent')
    return (
      <PageLink className={LINK} to={`/agents/${run.agent}?tab=settings`}>
        Open the agent
      </PageLink>
    )
  return act === 'resume_agent' ? <ResumeAgent agent={run.agent} /> : null
}

/** A task that has failed is tried again from here; otherwise its page has what can be done. */
function OnTask({ run, taskId }: { run: Run; taskId: string }) {
  const card = useCard(taskId)
  const { whyNot } = useSession()
  const acts = useTaskActs()
  const isLast = card?.generation === run.generation
  return (
    <span className="flex shrink-0 items-start gap-2">
      <PageLink className={LINK} to={`/tasks/${run.taskKey ?? taskId}`}>
        Open the task
      </PageLink>
      {card && isLast && mayBeDone('retry', card) && (
        <Button
          disabledReason={whyNot('operate')}
          icon="retry"
          kind="primary"
          onClick={() => void showOutcome(acts.run({ act: 'retry' }, [taskId]))}
          size="small"
        >
          Retry
        </Button>
      )}
    </span>
  )
}

function ResumeAgent({ agent }: { agent: string }) {
  const resume = useResume()
  return (
    <Button
      busy={resume.isBusy}
      disabledReason={resume.whyNot}
      kind="primary"
      onClick={() => resume.run(agent)}
      size="small"
    >
      Resume {agent}
    </Button>
  )
}
