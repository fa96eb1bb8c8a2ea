import { api } from '../../requests/api.ts'

/** The first of dev-1, dev-2, … that no agent has. */
export function freeSlug(taken: readonly string[]): string {
  const known = new Set(taken)
  let number = 1
  while (known.has(`dev-${number}`)) number += 1
  return `dev-${number}`
}

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
