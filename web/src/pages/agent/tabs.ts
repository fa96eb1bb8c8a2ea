export const AGENT_TABS = ['runs', 'settings', 'sessions', 'wakeups'] as const
export type AgentTab = (typeof AGENT_TABS)[number]
