import { useMutation } from '@tanstack/react-query'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { showRefusal } from '../../parts/show-refusal.ts'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'

/** Starts the demonstration and shows it. There is no undo: it can be cancelled there. */
export function useStartDemo(addressOf = (missionId: string) => `/missions/${missionId}`) {
  const go = useGo()
  const { whyNot } = useSession()
  const { mutate, isPending } = useMutation({
    mutationFn: () => api().post('/demo', { body: {} }),
    onSuccess: ({ missionId }) => go(addressOf(missionId)),
    onError: showRefusal,
  })
  const refusal = whyNot('operate')
  return { start: () => mutate(), isPending, refusal }
}

/** Starts the demonstration: no model, no cost. */
export function RunDemo() {
  const { start, isPending, refusal } = useStartDemo()
  return (
    <Button busy={isPending} disabledReason={refusal} icon="play" kind="primary" onClick={start}>
      Run the demo
    </Button>
  )
}
