import { useMemo } from 'react'
import { useLive } from '../live/provider.tsx'
import { TaskActs } from './acts.ts'
import { api } from './api.ts'
import { actRequests } from './live-requests.ts'

/** Acts on the tasks of this workspace. Each resolves to its outcome, in words to show. */
export function useTaskActs(): TaskActs {
  const live = useLive()
  return useMemo(() => new TaskActs(live, actRequests(api())), [live])
}
