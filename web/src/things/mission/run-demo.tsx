import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { api } from '../../requests/api.ts'
import { useAct } from '../use-act.ts'

/** Starts the demonstration and shows it. There is no undo: it can be cancelled there. */
export function useStartDemo(addressOf = (missionId: string) => `/missions/${missionId}`) {
  const go = useGo()
  return useAct(
    () => api().post('/demo', { body: {} }),
    ({ missionId }) => void go(addressOf(missionId)),
  )
}

/** Starts the demonstration: no model, no cost. */
export function RunDemo() {
  const demo = useStartDemo()
  return (
    <Button
      busy={demo.isBusy}
      disabledReason={demo.whyNot}
      icon="play"
      kind="primary"
      onClick={() => demo.run()}
    >
      Run the demo
    </Button>
  )
}
