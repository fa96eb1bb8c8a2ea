import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { useSession } from '../../requests/session.ts'
import { whyOwn } from '../../things/agent/own-agent.ts'
import { isStopped, useAgentActs } from '../../things/agent/use-agent-acts.ts'
import { WakeDialog } from '../../things/agent/wake-dialog.tsx'
import type { AgentRead } from './use-agent.ts'
import { useAgentEnds } from './use-agent-ends.ts'

/** Wake, pause or resume; to stop its runs and to terminate it asks first. */
export function AgentActs({ agent }: { agent: AgentRead }) {
  const acts = useAgentActs()
  const [isWaking, setWaking] = useState(false)
  const { slug } = agent
  useShortcuts('Agent', {
    w: { words: 'Wake the agent', run: () => setWaking(true), isOff: acts.whyNotWake(agent) !== null },
    p: {
      words: isStopped(agent) ? 'Resume the agent' : 'Pause the agent',
      run: () => acts.pauseOrResume(agent),
      isOff: acts.whyNotPause(agent) !== null,
    },
  })
  return (
    <>
      <Button
        disabledReason={acts.whyNotWake(agent)}
        icon="play"
        onClick={() => setWaking(true)}
        shortcut="w"
        size="small"
      >
        Wake
      </Button>
      <Button
        busy={acts.isPausing(slug)}
        disabledReason={acts.whyNotPause(agent)}
        icon={isStopped(agent) ? 'play' : 'pause'}
        onClick={() => acts.pauseOrResume(agent)}
        shortcut="p"
        size="small"
      >
        {isStopped(agent) ? 'Resume' : 'Pause'}
      </Button>
      <MoreActs agent={agent} />
      {isWaking && <WakeDialog agents={[agent]} onClose={() => setWaking(false)} />}
    </>
  )
}

function MoreActs({ agent }: { agent: AgentRead }) {
  const ends = useAgentEnds()
  const go = useGo()
  const { whyNot } = useSession()
  const [asks, setAsks] = useState<'stop' | 'terminate' | null>(null)
  const { slug } = agent
  return (
    <>
      <Menu
        groups={[
          [
            {
              words: 'Duplicate…',
              icon: 'copy',
              disabledReason: whyNot('configure_agents') ?? whyOwn(agent),
              run: () => go(`/agents/new?from=${slug}`),
            },
          ],
          [
            {
              words: 'Stop now…',
              icon: 'stop',
              isDangerous: true,
              disabledReason: ends.whyNotStop(agent),
              run: () => setAsks('stop'),
            },
            {
              words: 'Terminate…',
              icon: 'cancel',
              isDangerous: true,
              disabledReason: ends.whyNotTerminate(agent),
              run: () => setAsks('terminate'),
            },
          ],
        ]}
        trigger={<IconButton icon="more" label="More actions" size="small" />}
      />
      <ConfirmDialog
        confirm="Terminate agent"
        isDangerous
        choice={{
          words: 'Stop its runs now',
          hint: 'Its tasks return to the queue, and no attempt is spent.',
          isChosenFirst: agent.leaving,
        }}
        onClose={() => setAsks(null)}
        onConfirm={(reason, isNow) => ends.terminate(agent, reason, !isNow)}
        open={asks === 'terminate'}
        reason="optional"
        text={
          agent.leaving
            ? 'It finishes its current tasks and is terminated after them.'
            : 'It finishes its current tasks and gets no new ones. What its runs did is kept.'
        }
        title={`Terminate ${slug}?`}
      />
      <ConfirmDialog
        confirm="Stop now"
        isDangerous
        onClose={() => setAsks(null)}
        onConfirm={(reason) => ends.stop(agent, reason)}
        open={asks === 'stop'}
        reason="optional"
        text="Its runs are ended at once and it is paused. Its tasks return to the queue, and no attempt is spent."
        title={`Stop ${slug} now?`}
      />
    </>
  )
}
