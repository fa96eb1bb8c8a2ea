import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import type { Probe } from '../../things/agent/check-words.ts'
import { Checks } from '../../things/agent/checks.tsx'

/** The agent that is to be created could not run: what the test found, and whether to create it all the same. */
export function TestFailed(props: {
  name: string
  /** What failed; null: nothing is asked. */
  probe: Probe | null
  isBusy: boolean
  onBack: () => void
  onCreate: () => void
}) {
  const { name, probe, isBusy, onBack, onCreate } = props
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onBack}>Back</Button>
          <Button busy={isBusy} kind="primary" onClick={onCreate}>
            Create anyway
          </Button>
        </>
      }
      onClose={onBack}
      open={probe !== null}
      text={`${name} cannot run as it is set up now. It would fail with its first task.`}
      title="The test failed"
    >
      {probe && <Checks probe={{ checks: probe.checks.filter(({ ok }) => !ok) }} />}
    </Dialog>
  )
}
