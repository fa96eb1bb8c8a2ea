import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../requests/api.ts'
import type { Probe } from './check-words.ts'

/** The adapters of this node with the schemas of their settings. They change only when the server restarts. */
export const useAdapters = ({ isWanted = true } = {}) =>
  useQuery({
    queryKey: ['adapters'],
    queryFn: ({ signal }) => api().get('/adapters', { signal }),
    enabled: isWanted,
  })

interface Tested {
  type: string
  /** What is not saved yet; left out: the agent as it is saved. */
  config?: Record<string, unknown>
  runtimeConfig?: Record<string, unknown>
  agent?: string
}

/**
 * Tests settings, and finds all that is wrong. Masked values stand for those of the agent. The test of an agent as it is saved is
 * remembered: its page says that it failed.
 */
export const useTest = () =>
  useMutation<Probe, Error, Tested>({
    mutationFn: ({ type, config, runtimeConfig, agent }) =>
      config === undefined && agent !== undefined
        ? api().post('/agents/:id/test', { params: { id: agent } })
        : api().post('/adapters/:type/test', {
            params: { type },
            body: {
              ...{ config: config ?? {}, all: true },
              ...(runtimeConfig && { runtimeConfig }),
              ...(agent !== undefined && { agent }),
            },
          }),
  })
