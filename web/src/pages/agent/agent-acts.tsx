import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { isStopped, useAgentActs } from '../agents/use-agent-acts.ts'
import type { AgentRead } from './use-agent.ts'

/** Wake, pause or resume; terminate asks first. */
export function AgentActs({ agent }: { agent: AgentRead }) {
  const acts = useAgentActs()
  const [isEnding, setEnding] = useState(false)
  const { slug } = agent
  useShortcuts('Agent', {
    w: { words: 'Wake the agent', run: () => acts.wake(agent), isOff: acts.whyNotWake(agent) !== null },
    p: {
      words: isStopped(agent) ? 'Resume the agent' : 'Pause the agent',
      run: () => acts.pauseOrResume(agent),
      isOff: acts.whyNotPause(agent) !== null,
    },
  })
  return (
    <>
      <Button
        busy={acts.isWaking(slug)}
        disabledReason={acts.whyNotWake(agent)}
        icon="play"
        onClick={() => acts.wake(agent)}
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
      <Menu
        groups={[
          [
            {
              words: 'Terminate…',
              icon: 'cancel',
              isDangerous: true,
              disabledReason: acts.whyNotTerminate(agent),
              run: () => setEnding(true),
            },
          ],
        ]}
        trigger={<IconButton icon="more" label="More acts" size="small" />}
      />
      <ConfirmDialog
        confirm="Terminate agent"
        isDangerous
        onClose={() => setEnding(false)}
        onConfirm={(reason) => acts.terminate(agent, reason)}
        open={isEnding}
        reason="optional"
        text="It finishes its current tasks and gets no new ones. Its runs are kept."
        title={`Terminate ${slug}?`}
      />
    </>
  )
}
