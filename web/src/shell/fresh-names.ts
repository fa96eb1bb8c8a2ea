import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { LiveEvent } from '../live/card.ts'
import { useLive } from '../live/provider.tsx'
import { agentNamesQuery, projectNamesQuery } from '../requests/names.ts'

/** Whether an event changes which agents and projects can be chosen, or what is said of them there. Pure. */
export const changesNames = ({ type, entityType }: LiveEvent): boolean =>
  (entityType === 'agent' || entityType === 'project') &&
  /_(registered|created|updated|terminated|removed)$/.test(type)

/**
 * Lists to choose from are kept for a minute, and forgotten when somebody makes or changes an agent or a project: what was made a
 * moment ago can be chosen.
 */
export function useFreshNames(): void {
  const live = useLive()
  const queries = useQueryClient()
  useEffect(() => {
    let isOld = false
    const flush = () => {
      if (!isOld) return
      isOld = false
      for (const { queryKey } of [agentNamesQuery, projectNamesQuery])
        void queries.invalidateQueries({ queryKey, exact: true })
    }
    return live.follow({
      event: (event) => {
        isOld ||= changesNames(event)
      },
      flush,
      resync: () => {
        isOld = true
        flush()
      },
    })
  }, [live, queries])
}
