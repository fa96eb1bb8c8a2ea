import type { FieldWords } from '../../forms/schema-form.tsx'

/** What the settings of our own adapters mean. Those of others are described by their schema. */
export const SETTING_WORDS: FieldWords = {
  cwd: {
    label: 'Folder',
    hint: 'Empty: a folder of its own in the data folder.',
    isUsual: true,
  },
  model: {
    label: 'Model',
    hint: 'As the program names it. Empty: the program’s own default.',
    isUsual: true,
  },
  workspace: {
    label: 'Where it works',
    hint: 'With a worktree, each attempt has a branch of its own, and its changes can be reviewed and merged.',
    isUsual: true,
    choices: { cwd: 'In its folder', git_worktree: 'In a git worktree for each attempt' },
  },
  dangerouslySkipPermissions: {
    label: 'Skip permission questions',
    hint: 'It may then run any command as the user of this server.',
    isUsual: true,
  },
  dangerouslyBypassApprovalsAndSandbox: {
    label: 'Skip permission questions and the sandbox',
    hint: 'It may then run any command as the user of this server.',
    isUsual: true,
  },
  approvalMode: {
    label: 'What it may do without asking',
    isUsual: true,
    choices: { default: 'Only read', auto_edit: 'Edit files', yolo: 'Everything', plan: 'Only plan' },
  },
  command: { label: 'Command', hint: 'The program, by name or path.' },
  args: { label: 'Arguments', isUsual: true },
  url: { label: 'Address', hint: 'Where the service takes its tasks.' },
  method: { label: 'Method of requests' },
  headers: { label: 'Headers', hint: 'Values are not shown again after saving.', isUsual: true },
  heartbeatTimeoutSec: {
    label: 'Longest silence, in seconds',
    hint: 'A service that accepted a task and is silent for longer has lost it.',
  },
  env: { label: 'Environment', hint: 'Variables for it. Values are not shown again after saving.' },
  secretEnv: {
    label: 'Secret variables',
    hint: 'Names of variables to redact though neither their name nor their value looks like a secret.',
  },
  timeoutSec: { label: 'Time limit of a run, in seconds', hint: 'After that the run is stopped.' },
  graceSec: { label: 'Grace period, in seconds', hint: 'Time to end by itself before it is ended by force.' },
  baseBranch: { label: 'Base branch', hint: 'Where a worktree starts from. Empty: what is checked out.' },
  cleanup: {
    label: 'Remove worktrees',
    choices: { never: 'Never', when_clean: 'When nothing in them is unsaved' },
  },
  hooks: { label: 'Hooks', hint: 'Programs before and after each run, as JSON.' },
  extraArgs: { label: 'Extra arguments' },
  maxTurnsPerRun: { label: 'Turns of a run, at most' },
  maxBudgetUsd: { label: 'Cost of a run in dollars, at most' },
  grantableTools: { label: 'Tools that tasks may ask for' },
  billing: {
    label: 'Who pays for its tokens',
    hint: 'With a subscription, what a run would have cost is shown, and is not a bill.',
    choices: {
      auto: 'By its login: a subscription, unless it has a key',
      api: 'Billed by the token',
      subscription: 'A subscription',
    },
  },
  search: { label: 'Search the web' },
  agent: { label: 'Agent of the program', hint: 'One that is set up in opencode.' },
  variant: { label: 'Variant of the model' },
  promptTemplate: { label: 'Prompt' },
  steps: { label: 'Steps', hint: 'What the simulated agent does, as JSON.', isUsual: true },
  repeat: { label: 'Repetitions' },
  seed: { label: 'Seed', hint: 'The same seed gives the same run.' },
  costUsd: { label: 'Cost of a run in dollars' },
}

/** Fields of agents of any type, as the API names them. */
const OWN_LABELS: Readonly<Record<string, string>> = {
  id: 'Name',
  name: 'Display name',
  adapterType: 'Type',
  capabilities: 'Capabilities',
  taskTypes: 'Types of tasks',
  maxConcurrentTasks: 'Tasks at once',
  'runtimeConfig.node': 'Node',
  'runtimeConfig.fallbackModels': 'Models to fall back to',
  'runtimeConfig.heartbeat.intervalSec': 'Timer',
  'runtimeConfig.heartbeat.cooldownSec': 'Pause between runs',
}

/** What a form calls a field of the API: "Folder" for `adapterConfig.cwd`. */
export function labelOfField(field: string): string {
  const [, top, inner] = /^(?:adapterConfig|config)\.([A-Za-z_]\w*)\.?(.*)$/s.exec(field) ?? []
  if (top === undefined) return OWN_LABELS[field] ?? field.split('.').at(-1)!
  const label = SETTING_WORDS[top]?.label.replace(/, in seconds$/, '') ?? top
  return inner ? `${label}, ${inner},` : label
}
