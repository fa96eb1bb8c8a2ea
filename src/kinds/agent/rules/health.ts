import type { AgentHealth, AgentProfile } from '../record.ts'

/** What is known of an agent before its first heartbeat. */

/** Run by Baton, which sees whether it is alive: it need not send heartbeats. */
export const isManaged = ({ adapterType }: Pick<AgentProfile, 'adapterType'>) => adapterType !== 'external'

/** It registered, which is a sign of life; its silence counts from its first heartbeat on. */
export const registeredHealth = (now: number, staleMs: number): AgentHealth => ({
  lastSeenAt: now,
  hasHeartbeat: false,
  sentAt: null,
  status: 'healthy',
  session: null,
  currentTask: null,
  progressPercent: null,
  step: null,
  memoryMb: null,
  cpuPercent: null,
  metadata: null,
  dueAt: now + staleMs,
})

/** The silence of agents that Baton runs is not checked. */
export const heardOf = (profile: AgentProfile, health: AgentHealth | null) =>
  health && isManaged(profile) ? { ...health, dueAt: null } : health
