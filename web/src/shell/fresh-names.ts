import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { about } from '../live/about.ts'
import { useLive } from '../live/provider.tsx'
import { agentNamesQuery, missionNamesQuery, projectNamesQuery } from '../requests/names.ts'

/**
 * Lists to choose from are kept for a minute, and forgotten when somebody makes or changes an agent, a project or a mission: what
 * was made a moment ago can be chosen.
 */
export function useFreshNames(): void {
  const live = useLive()
  const queries = useQueryClient()
  useEffect(() => {
    let isOld = false
    const flush = () => {
      if (!isOld) return
      isOld = false
      for (const { queryKey } of [agentNamesQuery, projectNamesQuery, missionNamesQuery])
        void queries.invalidateQueries({ queryKey, exact: true })
    }
    return live.follow({
      event: (event) => {
        isOld ||= about.names(event)
      },
      flush,
      resync: () => {
        isOld = true
        flush()
      },
    })
  }, [live, queries])
}
