import { about } from '../../live/about.ts'
import { api } from '../../requests/api.ts'
import { useList } from '../../things/use-list.ts'
import type { Hook, Received, Sent, Webhook } from './words.ts'

const idOf = ({ id }: { id: string }) => id
const signalled = (signal: AbortSignal | undefined) => (signal ? { signal } : {})

export const useWebhooks = () =>
  useList<Webhook>(
    ['webhooks'],
    (query, signal) => api().read('/webhooks', { query, ...signalled(signal) }),
    // Each event may be on its way to one of them.
    { follows: about.anything, keyOf: idOf },
  )

export const useHooks = () =>
  useList<Hook>(['hooks'], (query, signal) => api().read('/hooks', { query, ...signalled(signal) }), {
    follows: about.hooks,
    keyOf: idOf,
  })

/** What a webhook was told. */
export const useSent = (id: string) =>
  useList<Sent>(
    ['webhook-deliveries', id],
    (query, signal) =>
      api().read('/webhooks/:id/deliveries', { params: { id }, query, ...signalled(signal) }),
    { follows: about.anything, keyOf: idOf, isHistory: true },
  )

/** What came to a hook. */
export const useReceived = (id: string) =>
  useList<Received>(
    ['hook-deliveries', id],
    (query, signal) => api().read('/hooks/:id/deliveries', { params: { id }, query, ...signalled(signal) }),
    { follows: about.hook(id), keyOf: idOf, isHistory: true },
  )
