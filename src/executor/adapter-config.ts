import type { AgentRecord } from '../kinds/task/record.ts'

/** The settings of an agent's adapter; none are the same as empty ones. */
export const configOf = ({ adapterConfig }: Pick<AgentRecord, 'adapterConfig'>) =>
  (adapterConfig ?? {}) as Record<string, unknown>
