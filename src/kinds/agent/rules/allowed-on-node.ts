/**
 * What agents may run on a node, as its operator allows. Configuring an agent makes Baton run a program with Baton's own
 * rights: workspaces other than the operator's get only kinds of agents that run nothing on the node.
 */
export interface AgentPolicy {
  /** Kinds that every workspace may use, beside the harmless ones; `*` means all. */
  adapters: readonly string[]
  /** Programs that may be run, by name or by absolute path; null: any. */
  commands: readonly string[] | null
  /** Variables that may be set although they make programs load code. `X_*` is a prefix. */
  env: readonly string[]
}

export interface Objection {
  field: string
  message: string
}

interface Judged {
  adapterType: string
  config: Record<string, unknown>
  /** What the adapter runs when the settings name no command. */
  defaultCommand: string | undefined
  /** The first workspace belongs to the operator of the node. */
  isOfFirstWorkspace: boolean
}

const HARMLESS_ADAPTERS = ['external', 'simulated', 'http']

/** As whom an adapter starts programs on a node: as the user that Baton runs as, who can read its keys, or even as root. */
export type RunsAs = 'baton' | 'root'

/** Null: it starts none. */
export const runsAs = (adapterType: string, isRoot: boolean): RunsAs | null =>
  HARMLESS_ADAPTERS.includes(adapterType) ? null : isRoot ? 'root' : 'baton'

const REMEDY =
  'run Baton as a user of its own or in a container, and set BATON_AGENT_COMMANDS and BATON_AGENT_ROOTS (docs/security.md)'

/** For the operator of a node that starts programs of agents. */
export const WARNING_AT_START: Record<RunsAs, string> = {
  baton: `agents run as the user of Baton and can read its keys and data: ${REMEDY}`,
  root: `Baton runs as root, and so do its agents: they can read and change everything on this machine: ${REMEDY}`,
}

/** Why the agent may not run on this node: sentences without their subject. */
export function objectionsTo(judged: Judged, policy: AgentPolicy): Objection[] {
  if (judged.adapterType === 'external') return []
  return [...toAdapter(judged, policy), ...toCommand(judged, policy), ...toVariables(judged, policy)]
}

export function mayUseAdapter(
  { adapterType, isOfFirstWorkspace }: Pick<Judged, 'adapterType' | 'isOfFirstWorkspace'>,
  { adapters }: AgentPolicy,
): boolean {
  return (
    isOfFirstWorkspace ||
    HARMLESS_ADAPTERS.includes(adapterType) ||
    adapters.includes('*') ||
    adapters.includes(adapterType)
  )
}

function toAdapter(judged: Judged, policy: AgentPolicy): Objection[] {
  if (mayUseAdapter(judged, policy)) return []
  const message = `"${judged.adapterType}" is not allowed for this workspace; the operator of the node can allow it with BATON_AGENT_ADAPTERS`
  return [{ field: 'adapterType', message }]
}

/**
 * Compared as text: another path to an allowed program may lead elsewhere tomorrow, and a program of the same name in
 * another folder is another program.
 */
function toCommand({ config, defaultCommand }: Judged, { commands }: AgentPolicy): Objection[] {
  const { before, after } = (config.hooks ?? {}) as Record<string, { command?: unknown } | undefined>
  const named = {
    command: typeof config.command === 'string' ? config.command : defaultCommand,
    'hooks.before.command': before?.command,
    'hooks.after.command': after?.command,
  }
  return Object.entries(named).flatMap(([field, command]) => {
    if (commands === null || typeof command !== 'string' || commands.includes(command)) return []
    const message = `"${command.slice(0, 200)}" is not among the commands that BATON_AGENT_COMMANDS allows on this node`
    return [{ field: `adapterConfig.${field}`, message }]
  })
}

function toVariables({ config }: Judged, { env: allowed }: AgentPolicy): Objection[] {
  const { env } = config
  if (typeof env !== 'object' || env === null) return []
  return Object.keys(env)
    .filter((name) => matches(name, LOADS_CODE) && !matches(name, allowed))
    .map((name) => ({
      field: `adapterConfig.env.${name.slice(0, 200)}`,
      message: 'makes programs load code; the operator of the node can allow it with BATON_AGENT_ENV',
    }))
}

/** Whether a name matches one of the patterns. `X_*` is a prefix. Variable names are case-sensitive. */
export const matches = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) =>
    pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern,
  )

/** With these, a program that is itself harmless runs, or is replaced by, the content of a file. */
const LOADS_CODE = [
  ...['PATH', 'IFS', 'ENV', 'BASH_ENV', 'BASH_FUNC_*', 'BASHOPTS', 'SHELLOPTS', 'SHELL', 'ZDOTDIR', 'CDPATH'],
  ...['PS1', 'PS2', 'PS3', 'PS4', 'PROMPT_COMMAND'],
  ...['LD_*', 'DYLD_*', 'GCONV_PATH', 'GLIBC_TUNABLES', 'LOCPATH', 'NLSPATH'],
  ...['OPENSSL_CONF', 'OPENSSL_ENGINES', 'OPENSSL_MODULES', 'GIO_EXTRA_MODULES', 'GTK_MODULES'],
  ...[
    'NODE_OPTIONS',
    'NODE_PATH',
    'NODE_REPL_EXTERNAL_MODULE',
    'BUN_OPTIONS',
    'NPM_CONFIG_*',
    'npm_config_*',
  ],
  ...['PYTHONPATH', 'PYTHONHOME', 'PYTHONSTARTUP', 'PYTHONUSERBASE', 'PYTHONBREAKPOINT', 'PYTHONWARNINGS'],
  ...['PYTHONINSPECT', 'PYTHONPLATLIBDIR', 'PYTHONPYCACHEPREFIX', 'PYTHONEXECUTABLE'],
  ...['PERL5OPT', 'PERL5LIB', 'PERL5DB', 'PERLLIB', 'RUBYOPT', 'RUBYLIB', 'GEM_HOME', 'GEM_PATH'],
  ...['BUNDLE_GEMFILE', 'JAVA_TOOL_OPTIONS', '_JAVA_OPTIONS', 'JDK_JAVA_OPTIONS', 'CLASSPATH', 'MAVEN_OPTS'],
  ...[
    'GRADLE_OPTS',
    'LUA_INIT*',
    'LUA_PATH*',
    'LUA_CPATH*',
    'PHPRC',
    'PHP_INI_SCAN_DIR',
    'DOTNET_STARTUP_HOOKS',
  ],
  ...['CORECLR_*', 'COR_*', 'GIT_*', 'SSH_ASKPASS', 'SUDO_ASKPASS', 'RSYNC_RSH'],
  ...['EDITOR', 'VISUAL', 'PAGER', 'MANPAGER', 'LESSOPEN', 'LESSCLOSE', 'BROWSER'],
]
