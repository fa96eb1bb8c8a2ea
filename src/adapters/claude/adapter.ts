import { join } from 'node:path'
import { z } from 'zod'
import { objectIn } from '../../transcript/json.ts'
import { cliAdapter } from '../cli.ts'
import { exists, keyCheck, type ProbeContext, type RunCommand } from '../cli-probe.ts'
import { cliSettings } from '../cli-settings.ts'
import { configOf, PlainText } from '../config.ts'
import type { ProbeCheck } from '../protocol.ts'
import { claudeFiles } from './files.ts'
import { ClaudeReader, isPiece } from './reader.ts'
import { isOlderThan, type Version } from './version.ts'

/** The Claude CLI as an agent (Paperclip 7.1, adapted to newer versions). */

const OWN_FLAGS = `
  -p --print --output-format --input-format --verbose --session-id -r --resume -c --continue
  --fork-session --no-session-persistence --include-partial-messages --model --max-turns --max-budget-usd
  --dangerously-skip-permissions -h --help -v --version`
  .trim()
  .split(/\s+/)

/** The list of tools is one argument, separated by commas. */
const Tool = PlainText.min(1)
  .max(200)
  .regex(/^[^,]+$/, 'must not contain a comma')

const ClaudeSettings = z.strictObject({
  ...cliSettings('claude', OWN_FLAGS),
  maxTurnsPerRun: z.int().min(1).max(100_000).optional(),
  /** Also accepted as text, since it is money. */
  maxBudgetUsd: z
    .union([z.number().min(0.000_001).max(1_000_000), z.string().regex(/^\d{1,6}(\.\d{1,6})?$/)])
    .optional(),
  dangerouslySkipPermissions: z.boolean().default(false),
  /** The tools that tasks may have if they ask for them (`--allowedTools`); `*`: any. */
  grantableTools: z.array(Tool).max(200).default([]),
})

type ClaudeSettings = z.infer<typeof ClaudeSettings>

const CLOUDS = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX']
const BILLED = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN']
const KEYS = [...BILLED, 'CLAUDE_CODE_OAUTH_TOKEN']
const LOGIN_FILE = '.credentials.json'
const loginFolder = (env: Record<string, string>) => env.CLAUDE_CONFIG_DIR || join(env.HOME || '/', '.claude')

export const claudeAdapter = cliAdapter({
  type: 'claude_local',
  config: configOf('claude_local', ClaudeSettings),
  inheritsEnv: ['ANTHROPIC_*', 'CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_OAUTH_TOKEN'],
  choosesSessions: true,
  argumentsFor: (settings, session) => [
    '--print',
    ...['--output-format', 'stream-json', '--verbose'],
    ...(session ? [session.isNew ? '--session-id' : '--resume', session.id] : []),
    ...(settings.model ? ['--model', settings.model] : []),
    ...(settings.maxTurnsPerRun ? ['--max-turns', String(settings.maxTurnsPerRun)] : []),
    ...(settings.maxBudgetUsd ? ['--max-budget-usd', String(settings.maxBudgetUsd)] : []),
    ...(settings.dangerouslySkipPermissions ? ['--dangerously-skip-permissions'] : []),
    ...settings.extraArgs,
  ],
  // What a message has used is told with its pieces, and otherwise not before the end.
  newerFlags: ['--include-partial-messages'],
  isUnlogged: isPiece,
  files: claudeFiles,
  taskFlags: { systemPrompt: '--append-system-prompt', tools: '--allowedTools' },
  reader: (runtimeState) => new ClaudeReader(runtimeState),
  providerOf: () => 'anthropic',
  keys: KEYS,
  loginFolder,
  loginFile: LOGIN_FILE,
  keyVariables: [...BILLED, ...CLOUDS],
  installHint:
    'If it is installed elsewhere, write its path as the command. To install it: `npm install -g @anthropic-ai/claude-code`',
  check,
})

async function check(
  run: RunCommand,
  { env, settings, version }: ProbeContext<ClaudeSettings>,
): Promise<ProbeCheck[]> {
  const key = keyCheck(env, [...KEYS, ...CLOUDS])
  const isRefused = settings.dangerouslySkipPermissions && process.getuid?.() === 0 && !env.IS_SANDBOX
  return [key ?? (await login(run, loginFolder(env), version)), ...(isRefused ? [ROOT] : [])]
}

const ROOT: ProbeCheck = {
  name: 'permissions',
  ok: false,
  detail: 'Claude refuses to skip permissions for root.',
  hint: 'Run Baton as another user, or turn dangerouslySkipPermissions off.',
}

/** Earlier versions take `auth status` for a prompt and would answer it. */
const KNOWS_AUTH_STATUS: Version = [2, 1, 100]

async function login(run: RunCommand, folder: string, version: string): Promise<ProbeCheck> {
  const name = 'login'
  if (await exists(join(folder, LOGIN_FILE)))
    return { name, ok: true, detail: `Logged in by ${folder} (not tested).` }
  if (!/\d\.\d/.test(version) || isOlderThan(version, KNOWS_AUTH_STATUS))
    return {
      name,
      ok: true,
      detail: 'This version cannot report whether it is logged in.',
      isUnknown: true,
    }
  const answer = await run('auth', 'status')
  const isLoggedIn = objectIn(answer.stdoutTail)?.loggedIn ?? answer.exitCode === 0
  if (isLoggedIn === true) return { name, ok: true, detail: 'It reports that it is logged in.' }
  const hint = 'Run `claude auth login` as the user Baton runs as, or set ANTHROPIC_API_KEY in env.'
  return { name, ok: false, detail: 'It is not logged in.', hint }
}
