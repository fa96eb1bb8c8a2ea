import { api } from '../../requests/api.ts'

/** An agent that does not exist has version 0: one that exists is not changed by accident, but refused with 412. */
const ONLY_IF_NEW = '"0"'

export const makeAgent = (
  slug: string,
  adapterType: string,
  adapterConfig: Record<string, unknown>,
  taskTypes: string[] = [],
) =>
  api().put('/agents/:id', {
    params: { id: slug },
    body: { adapterType, adapterConfig, ...(taskTypes.length > 0 && { taskTypes }) },
    ifMatch: ONLY_IF_NEW,
  })
