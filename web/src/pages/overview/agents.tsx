import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { TextWithCommands } from '../../parts/text-with-commands.tsx'
import { countText } from '../../parts/wording.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { reasonText } from '../../things/agent/reason-text.ts'
import { useResume } from '../../things/agent/use-agent-acts.ts'
import { Box } from './box.tsx'
import type { Overview } from './use-overview.ts'

const SHOWN_STATES = ['running', 'idle', 'error', 'paused', 'offline'] as const
const MOST_SHOWN = 5

/** How the agents are; those in trouble with the reason, and with what helps. */
export function Agents({ agents }: { agents: Overview['agents'] }) {
  const { counts, inError } = agents
  const more = counts.error - Math.min(inError.length, MOST_SHOWN)
  return (
    <Box title="Agents" to="/agents">
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-row">
        {SHOWN_STATES.filter((state) => counts[state] > 0).map((state) => (
          <PageLink
            className="inline-flex items-center gap-1.5 hover:text-accent hover:underline"
            key={state}
            to={`/agents?state=${state}`}
          >
            <StateMark size={12} state={state} /> {countText(counts[state])}{' '}
            {state === 'running' ? 'working' : STATE_LOOKS[state].word.toLowerCase()}
          </PageLink>
        ))}
        {SHOWN_STATES.every((state) => counts[state] === 0) && (
          <span className="text-muted">No agents yet.</span>
        )}
      </p>
      {inError.length > 0 && (
        <ul aria-label="Agents in trouble" className="flex flex-col gap-2">
          {inError.slice(0, MOST_SHOWN).map((agent) => (
            <InTrouble agent={agent} key={agent.slug} />
          ))}
        </ul>
      )}
      {more > 0 && (
        <PageLink className="text-row text-accent hover:underline" to="/agents?state=error">
          {countText(more)} more
        </PageLink>
      )}
    </Box>
  )
}

function InTrouble({ agent }: { agent: Overview['agents']['inError'][number] }) {
  const { slug, reason, since } = agent
  const resume = useResume()
  return (
    <li className="flex items-start gap-2 text-row">
      <span className="mt-0.5 inline-flex shrink-0">
        <StateMark label="In trouble" size={14} state="error" />
      </span>
      <span className="min-w-0 flex-1">
        <PageLink className="font-medium hover:text-accent hover:underline" to={`/agents/${slug}`}>
          {slug}
        </PageLink>{' '}
        <span className="text-muted">
          <Moment at={since} />
        </span>
        <span className="block break-words text-bad">
          {reason === null ? (
            'It fell silent while it held a task.'
          ) : (
            <TextWithCommands text={reasonText(reason)} wraps />
          )}
        </span>
      </span>
      <Button
        aria-label={`Resume ${slug}`}
        busy={resume.isBusy}
        disabledReason={resume.whyNot}
        onClick={() => resume.run(slug)}
        size="small"
      >
        Resume
      </Button>
    </li>
  )
}
