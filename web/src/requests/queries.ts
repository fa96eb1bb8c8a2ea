import { MutationCache, QueryClient } from '@tanstack/react-query'
import { refuseOffline } from './offline.ts'

const MOST_RETRIES = 2

/** A refusal is an answer: only requests without an answer, or to a busy server, are repeated. */
function isWorthRetrying(failures: number, error: unknown): boolean {
  const status = (error as { status?: number }).status
  return failures < MOST_RETRIES && (status === undefined || status === 429 || status >= 500)
}

export const queryClient = new QueryClient({
  mutationCache: new MutationCache({ onMutate: refuseOffline }),
  defaultOptions: {
    queries: {
      retry: isWorthRetrying,
      // Events keep what is shown fresh; nothing is read again because a window gets the focus.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
    },
    // Not "online": without a network that keeps acts, and sends them later.
    mutations: { retry: false, networkMode: 'always' },
  },
})
