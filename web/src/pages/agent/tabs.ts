export const AGENT_TABS = ['runs', 'budget', 'settings', 'prompt', 'sessions', 'wakeups'] as const
export type AgentTab = (typeof AGENT_TABS)[number]

export const TEMPLATE_NAMES = ['coder', 'reviewer', 'planner', 'script'] as const
export type TemplateName = (typeof TEMPLATE_NAMES)[number]
