import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../requests/api.ts'

/** The adapters of this node with the schemas of their settings. They change only when the server restarts. */
export const useAdapters = ({ isWanted = true } = {}) =>
  useQuery({
    queryKey: ['adapters'],
    queryFn: ({ signal }) => api().get('/adapters', { signal }),
    enabled: isWanted,
  })

/** Tests settings before they are saved. Masked values stand for those of the agent. */
export const useTest = () =>
  useMutation({
    mutationFn: ({
      type,
      config,
      agent,
    }: {
      type: string
      config: Record<string, unknown>
      agent?: string
    }) =>
      api().post('/adapters/:type/test', {
        params: { type },
        body: { config, ...(agent === undefined ? {} : { agent }) },
      }),
  })
