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

/** What is said of a new agent beside its name and type. */
interface NewAgent {
  adapterConfig: Record<string, unknown>
  name?: string
  maxConcurrentTasks?: number | null
  taskTypes?: readonly string[]
  capabilities?: readonly string[]
  runtimeConfig?: Record<string, unknown> | null
}

export const makeAgent = (slug: string, adapterType: string, agent: NewAgent) =>
  api().put('/agents/:id', {
    params: { id: slug },
    body: { adapterType, ...agent },
    ifMatch: ONLY_IF_NEW,
  })
