import { Button } from '../../parts/button.tsx'
import { useStartDemo } from './use-start-demo.ts'

/** Starts the demonstration: no model, no cost. */
export function RunDemo() {
  const { start, isPending, refusal } = useStartDemo()
  return (
    <Button busy={isPending} disabledReason={refusal} icon="play" kind="primary" onClick={start}>
      Run the demo
    </Button>
  )
}
