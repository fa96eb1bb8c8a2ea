/** What people call the fields of a plan, as in the middle of a sentence. Pure. */
const NOUNS: Readonly<Record<string, string>> = {
  tempId: 'id',
  title: 'title',
  description: 'description',
  successCriteria: '“done when”',
  taskType: 'type',
  agent: 'agent',
  preferredAgent: 'preferred agent',
  capabilities: 'capabilities',
  contractor: 'contractor',
  model: 'model',
  dependsOn: 'what it waits for',
  triggerRule: '“starts when”',
  verification: 'review',
  threshold: 'least score',
  command: 'command',
  budget: 'budget',
  maxUsd: 'budget in dollars',
  maxTokens: 'budget in tokens',
  timeouts: 'time limits',
  assignSeconds: 'time until it starts',
  stallSeconds: 'longest silence',
  verifySeconds: 'time for its review',
  attemptSeconds: 'time for one attempt',
  deadlineSeconds: 'time for all attempts',
  hangGraceSeconds: 'time over its estimate',
  hangAbortSeconds: 'time without progress',
  complexity: 'complexity',
  estimatedTokens: 'estimated tokens',
  estimatedDurationMinutes: 'estimated minutes',
  maxRetries: 'retries',
  maxContinuations: 'continuations',
  priority: 'priority',
  tags: 'tags',
  systemPrompt: 'system prompt',
  outputSchema: 'output schema',
  toolsRequested: 'tools',
  input: 'input',
  optional: '“optional”',
  fresh: '“each attempt starts over”',
  cancel: '“cancel it”',
  tasks: 'list of tasks',
  project: 'project',
  strategy: 'strategy',
}

export const fieldNoun = (field: string) => NOUNS[field] ?? `“${field}”`

/** At the beginning of a sentence. */
export function fieldSubject(field: string): string {
  const noun = fieldNoun(field)
  if (field === 'dependsOn') return 'What it waits for'
  return noun.startsWith('“') ? noun : `The ${noun}`
}
