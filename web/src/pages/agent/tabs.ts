export const AGENT_TABS = ['runs', 'settings', 'prompt', 'sessions', 'wakeups'] as const
export type AgentTab = (typeof AGENT_TABS)[number]
