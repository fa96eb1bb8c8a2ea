import { useQuery } from '@tanstack/react-query'
import { useSettled } from '../../logs/use-settled.ts'
import { api } from '../../requests/api.ts'
import { type ScheduleDraft, scheduleOfDraft } from './schedule-draft.ts'

export interface ScheduleTimes {
  nextTimes: readonly string[]
  problem: { field: 'cron' | 'timeZone'; words: string } | null
  /** Why it cannot be saved. */
  refusal: string | null
}

/** When a schedule that is being written would fire, as the server says: also that it never does. */
export function useScheduleTimes(draft: ScheduleDraft): ScheduleTimes {
  const { cron = '', timeZone = '' } = scheduleOfDraft(draft) ?? {}
  const text = `${timeZone} ${cron}`
  const isSettled = useSettled(text) === text
  const isWanted = draft.rhythm !== 'none'
  const { data } = useQuery({
    queryKey: ['schedule-times', cron, timeZone],
    queryFn: ({ signal }) => api().get('/schedules/next', { query: { cron, timeZone }, signal }),
    enabled: isWanted && isSettled,
    // The next times pass.
    staleTime: 60_000,
    gcTime: 60_000,
  })
  if (!isWanted || !data) return { nextTimes: [], problem: null, refusal: null }
  const { field, message } = data.problem ?? {}
  if (!field) return { nextTimes: data.nextTimes, problem: null, refusal: null }
  const words =
    field === 'timeZone'
      ? 'No time zone has this name. Write one such as Europe/Berlin.'
      : `The schedule ${message}.`
  return { nextTimes: [], problem: { field, words }, refusal: words }
}
