import { QueryClient } from '@tanstack/react-query'

const MOST_RETRIES = 2

/** A refusal is an answer: only what got none, or a server that is busy, is asked again. */
function isWorthRetrying(failures: number, error: unknown): boolean {
  const status = (error as { status?: number }).status
  return failures < MOST_RETRIES && (status === undefined || status === 429 || status >= 500)
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      retry: isWorthRetrying,
      // Events keep what is shown fresh; nothing is asked again because a window was looked at.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
    mutations: { retry: false },
  },
})
