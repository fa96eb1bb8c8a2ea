import type { FieldWords } from '../../forms/schema-form.tsx'

/** What the settings of our own adapters mean. Those of others are described by their schema. */
export const SETTING_WORDS: FieldWords = {
  cwd: {
    label: 'Folder',
    hint: 'Where it works. Empty: a folder of its own in the data folder.',
    isUsual: true,
  },
  model: {
    label: 'Model',
    hint: 'As the program names it. Empty: the program’s own default.',
    isUsual: true,
  },
  workspace: {
    label: 'Work in',
    hint: 'git_worktree gives each attempt a worktree and a branch of its own.',
    isUsual: true,
  },
  dangerouslySkipPermissions: {
    label: 'Skip permission questions',
    hint: 'It may then run any command as the user of this server.',
    isUsual: true,
  },
  command: { label: 'Command', hint: 'The program, by name or path.' },
  args: { label: 'Arguments', isUsual: true },
  url: { label: 'Address', hint: 'Where the service takes its tasks.' },
  headers: { label: 'Headers', hint: 'Values are not shown again after saving.', isUsual: true },
  env: { label: 'Variables', hint: 'Set in its environment. Values are not shown again after saving.' },
  secretEnv: {
    label: 'Secret variables',
    hint: 'Names of variables to redact though neither their name nor their value looks like a secret.',
  },
  timeoutSec: { label: 'Time limit', hint: 'In seconds. After that the run is stopped.' },
  graceSec: { label: 'Grace period', hint: 'In seconds, before it is ended by force.' },
  baseBranch: { label: 'Base branch', hint: 'Where a worktree starts from. Empty: what is checked out.' },
  cleanup: { label: 'Remove worktrees' },
  hooks: { label: 'Hooks', hint: 'Programs before and after each run, as JSON.' },
  extraArgs: { label: 'Extra arguments' },
  maxTurnsPerRun: { label: 'Turn limit' },
  maxBudgetUsd: { label: 'Cost limit in dollars' },
  grantableTools: { label: 'Grantable tools' },
  steps: { label: 'Steps', hint: 'What the simulated agent does, as JSON.', isUsual: true },
}
