import { useLive } from '../../live/provider.tsx'
import { useSnapshot } from '../../live/use-snapshot.ts'
import type { Window } from '../../parts/windows.ts'
import { api } from '../../requests/api.ts'
import { fromOf } from './insight-words.ts'

/** So many bars of a chart: more would not be read. */
const SHOWN = '8'

/**
 * The figures of a period, as of when they were read: they look through ten thousand tasks, which is not done with each event. They are
 * read again on request.
 */
export function useInsight(window: Window) {
  const live = useLive()
  const period = () => ({ from: fromOf(window, live.now()) })
  const tasks = useSnapshot(['insight', window], ({ signal }) =>
    api().read('/insight', { query: { ...period(), limit: SHOWN }, signal }),
  )
  const telemetry = useSnapshot(['insight', 'telemetry', window], ({ signal }) =>
    api().read('/telemetry', { query: period(), signal }),
  )
  const all = [tasks, telemetry]
  return {
    ...{ tasks, telemetry },
    isReading: all.some(({ isFetching }) => isFetching),
    readAgain: () => {
      for (const read of all) void read.refetch()
    },
  }
}
