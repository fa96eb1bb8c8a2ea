import { useQuery } from '@tanstack/react-query'
import { api } from '../../requests/api.ts'

/** A version of a mission's plan never changes, so it is read once. */
export function usePlan(missionId: string, version: number, since: number | null) {
  return useQuery({
    queryKey: ['plan', missionId, version, since],
    queryFn: ({ signal }) =>
      api().get('/missions/:id/plan', {
        params: { id: missionId },
        query: { version: String(version), ...(since === null ? {} : { since: String(since) }) },
        signal,
      }),
  })
}
