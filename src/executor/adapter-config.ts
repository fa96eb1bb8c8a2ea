import type { AgentRecord } from '../kinds/agent/record.ts'

/** The settings of an agent's adapter; none are the same as empty ones. */
export const configOf = ({ adapterConfig }: Pick<AgentRecord, 'adapterConfig'>) =>
  (adapterConfig ?? {}) as Record<string, unknown>
