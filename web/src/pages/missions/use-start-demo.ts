import { useMutation } from '@tanstack/react-query'
import { useGo } from '../../links.tsx'
import { explain } from '../../parts/explain.ts'
import { toast } from '../../parts/toasts.tsx'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'

/** Starts the demonstration and goes to its mission. There is no undo: it can be cancelled there. */
export function useStartDemo() {
  const go = useGo()
  const { can } = useSession()
  const { mutate, isPending } = useMutation({
    mutationFn: () => api().post('/demo', { body: {} }),
    onSuccess: ({ missionId }) => go(`/missions/${missionId}`),
    onError: (error) => {
      const { title, detail } = explain(error)
      toast({ kind: 'bad', title, text: detail })
    },
  })
  const refusal = can('operate') ? null : 'This needs the right to operate.'
  return { start: () => mutate(), isPending, refusal }
}
