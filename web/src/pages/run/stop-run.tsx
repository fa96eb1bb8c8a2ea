import { useState } from 'react'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { useSession } from '../../requests/session.ts'
import { AskStop } from '../../things/run/ask-stop.tsx'
import type { Run } from './use-run.ts'

export function StopRun({ run }: { run: Run }) {
  const { whyNot } = useSession()
  const [isAsked, setAsked] = useState(false)
  const reason = whyNot('operate')
  useShortcuts('Run', { s: { words: 'Stop the run', run: () => setAsked(true), isOff: reason !== null } })
  return (
    <>
      <Button disabledReason={reason} icon="stop" onClick={() => setAsked(true)} shortcut="s" size="small">
        Stop
      </Button>
      {isAsked && <AskStop onClose={() => setAsked(false)} run={run} />}
    </>
  )
}
