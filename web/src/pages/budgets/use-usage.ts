import { about } from '../../live/about.ts'
import { useLive } from '../../live/provider.tsx'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { saveFile } from '../../parts/save-file.ts'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import type { Group, PeriodBack } from './search.ts'
import { WINDOW } from './usage-words.ts'

/** What was used in a window that ends now. Days are whole: the first one begins at midnight. */
export function useUsage(groupBy: Group, window: PeriodBack) {
  const live = useLive()
  const query = () => ({ groupBy, from: new Date(live.now() - WINDOW[window].ms).toISOString() })
  const read = useSnapshot(
    ['usage', groupBy, window],
    ({ signal }) => api().read('/usage', { query: query(), signal }),
    { follows: about.spending },
  )
  const download = useAct(
    async () => {
      const text = await api().get('/usage', { query: { ...query(), format: 'csv' } })
      saveFile(
        `usage-by-${groupBy}.csv`,
        [typeof text === 'string' ? text : JSON.stringify(text)],
        'text/csv;charset=utf-8',
      )
    },
    () => undefined,
    { right: 'read' },
  )
  return { read, download }
}
