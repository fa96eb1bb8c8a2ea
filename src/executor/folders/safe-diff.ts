/** Flags with which `git diff` runs no program that a repository names. */
export const SAFE_FLAGS = [
  '--no-ext-diff',
  '--no-textconv',
  // Of a submodule only its commit: to look into it, git would run with the submodule's own settings.
  '--ignore-submodules=dirty',
  '--submodule=short',
  '--no-color',
] as const
