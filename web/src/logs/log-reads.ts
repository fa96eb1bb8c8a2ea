import { queryOptions } from '@tanstack/react-query'
import { saveFile } from '../parts/save-file.ts'
import { api } from '../requests/api.ts'
import type { LogAnswer, LogRead } from './log-feed.ts'

/** Reads of one run's log. */

export const readLog = (runId: string, wanted: LogRead): Promise<LogAnswer> =>
  api().get('/runs/:id/log', { params: { id: runId }, query: wanted })

/** Asked again until the whole log was read: of a large one, a request reads a part. */
export const outlineQuery = (runId: string) =>
  queryOptions({
    queryKey: ['log-outline', runId],
    queryFn: ({ signal }) => api().get('/runs/:id/log/outline', { params: { id: runId }, signal }),
    refetchInterval: ({ state: { data } }) => (data && !data.isComplete ? 1_000 : false),
  })

const NEAR_BYTES = 16 * 1024

/** Where the log was at this moment: spans know when they were written, so a few tiny reads find it. */
export async function offsetAtTime(runId: string, at: number, logBytes: number): Promise<number> {
  let low = 0
  let high = logBytes
  while (high - low > NEAR_BYTES) {
    const middle = Math.floor((low + high) / 2)
    const { spans } = await readLog(runId, { offset: middle, limitBytes: 64 })
    const [span] = spans
    if (span && Date.parse(span.ts) < at) low = middle
    else high = middle
  }
  return low
}

const RAW_PAGE_BYTES = 4 * 1024 * 1024

/** The whole log as a file, page by page: the session is in headers, which a plain link does not send. */
export async function downloadLog(runId: string, onShare: (share: number) => void): Promise<void> {
  const parts: string[] = []
  for (let offset: number | null = 0; offset !== null; ) {
    const page: { content: string; nextOffset: number | null; bytes: number | null } = await api().get(
      '/runs/:id/log',
      { params: { id: runId }, query: { offset, limitBytes: RAW_PAGE_BYTES } },
    )
    if (page.content !== '') parts.push(page.content)
    onShare(page.bytes ? Math.min((page.nextOffset ?? page.bytes) / page.bytes, 1) : 1)
    offset = page.nextOffset !== null && page.nextOffset > offset ? page.nextOffset : null
  }
  saveFile(`run-${runId}.log`, parts, 'text/plain')
}
