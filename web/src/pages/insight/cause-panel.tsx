import { useInfiniteQuery } from '@tanstack/react-query'
import { PageLink } from '../../links.tsx'
import { useLive } from '../../live/provider.tsx'
import { Button } from '../../parts/button.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { WINDOW_WORDS, type Window } from '../../parts/windows.ts'
import { nameOfTask } from '../../requests/act-words.ts'
import { api } from '../../requests/api.ts'
import { causeWords, failureText, fromOf } from './insight-words.ts'

/** The tasks that failed for one cause, newest first. */
export function CausePanel({
  cause,
  window,
  onClose,
}: {
  cause: string
  window: Window
  onClose: () => void
}) {
  const live = useLive()
  const read = useInfiniteQuery({
    queryKey: ['failures', cause, window],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      api().get('/insight/failures', {
        query: { cause, from: fromOf(window, live.now()), limit: '50', cursor: pageParam },
        signal,
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    gcTime: 0,
  })
  const items = read.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <SidePanel onClose={onClose} title={causeWords(cause)}>
      <p className="mb-3 text-row text-muted">
        Attempts that failed for this in {WINDOW_WORDS[window].last}.
      </p>
      {!read.data ? (
        <Loading read={read} rowHeight={56} rows={6} />
      ) : (
        <ul className="flex flex-col">
          {items.map(({ seq, at, taskId, key, title, agent, message }) => (
            <li
              className="flex flex-col gap-0.5 border-t border-line py-2 text-row first:border-t-0"
              key={seq}
            >
              <span className="flex items-baseline gap-3">
                <PageLink
                  className="min-w-0 flex-1 truncate font-medium hover:text-accent hover:underline"
                  to={`/tasks/${key ?? taskId}`}
                >
                  {key ?? nameOfTask(taskId, undefined)} {title}
                </PageLink>
                <span className="shrink-0 text-muted">
                  <Moment at={at} />
                </span>
              </span>
              <span className="break-words text-muted">
                {agent !== null && `${agent}: `}
                {failureText(message)}
              </span>
            </li>
          ))}
          {items.length === 0 && (
            <li className="text-row text-muted">No attempt failed for this in this time.</li>
          )}
        </ul>
      )}
      {read.hasNextPage && (
        <Button
          busy={read.isFetchingNextPage}
          className="mt-3"
          onClick={() => void read.fetchNextPage()}
          size="small"
        >
          Show older ones
        </Button>
      )}
    </SidePanel>
  )
}
