import { useGo } from '../../links.tsx'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import type { ListedRoutine } from './use-routines.ts'

type Values = Record<string, string | number | boolean>

/** Starting a mission of a routine. Its page opens, where what comes next is seen. */
export function useRunNow(onDone: () => void) {
  const go = useGo()
  return useAct(
    ({ id, variables }: { id: string; name: string; variables: Values }) =>
      api().post('/routines/:id/run', { params: { id }, body: { variables }, retry: true }),
    ({ missionId }, { name }) => {
      onDone()
      const act = { words: 'Open the mission', run: () => go(`/missions/${missionId}`) }
      return { title: `“${name}” started a mission.`, act }
    },
    { onRefused: shownInPlace },
  )
}

/** Pausing and resuming its schedule: each undoes the other. */
export function usePause() {
  const { run, isBusy, asked, whyNot } = useAct(
    ({ id, enabled }: Pick<ListedRoutine, 'id' | 'name' | 'enabled'>) =>
      api().patch('/routines/:id', { params: { id }, body: { enabled: !enabled } }),
    (_, { name, enabled }) =>
      enabled
        ? `“${name}” is paused: it starts no missions by its schedule.`
        : `“${name}” starts missions by its schedule again.`,
  )
  return {
    pauseOrResume: run,
    isPausing: (id: string) => isBusy && asked?.id === id,
    whyNotPause: ({ schedule }: Pick<ListedRoutine, 'schedule'>) =>
      whyNot ?? (schedule === null ? 'It has no schedule.' : null),
  }
}

export function useRemove() {
  const go = useGo()
  return useAct(
    ({ id }: Pick<ListedRoutine, 'id' | 'name'>) => api().delete('/routines/:id', { params: { id } }),
    (_, { name }) => {
      go('/routines', { replace: true })
      return { title: `The routine “${name}” is deleted.`, text: 'The missions it started stay.' }
    },
  )
}
