import { join } from 'node:path'
import { z } from 'zod'
import { cliAdapter } from '../cli.ts'
import { fileCheck, keyCheck, type RunCommand } from '../cli-probe.ts'
import { cliSettings, Name } from '../cli-settings.ts'
import { configOf } from '../config.ts'
import type { ProbeCheck } from '../protocol.ts'
import { OpencodeReader } from './reader.ts'

/** The opencode CLI as an agent. It reads the prompt from stdin when no message is among its arguments. */

const OWN_FLAGS = `
  run --format -s --session -c --continue --fork -m --model --agent --variant --command --attach
  --dir -i --interactive --auto --yolo --dangerously-skip-permissions -h --help -v --version`
  .trim()
  .split(/\s+/)

const OpencodeSettings = z.strictObject({
  ...cliSettings('opencode', OWN_FLAGS),
  agent: Name.optional(),
  variant: Name.optional(),
  dangerouslySkipPermissions: z.boolean().default(false),
})

const KEYS = [
  'ANTHROPIC_API_KEY',
  'OPENAI_API_KEY',
  'GEMINI_API_KEY',
  'OPENROUTER_API_KEY',
  'OPENCODE_API_KEY',
]
const LOGIN_FILE = 'auth.json'
const loginFolder = (env: Record<string, string>) =>
  join(env.XDG_DATA_HOME || join(env.HOME || '/', '.local', 'share'), 'opencode')

export const opencodeAdapter = cliAdapter({
  type: 'opencode_local',
  config: configOf('opencode_local', OpencodeSettings),
  inheritsEnv: [...KEYS, 'OPENCODE_CONFIG', 'OPENCODE_CONFIG_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME'],
  choosesSessions: false,
  argumentsFor: (settings, session) => [
    'run',
    ...['--format', 'json'],
    ...(session ? ['--session', session.id] : []),
    ...(settings.model ? ['--model', settings.model] : []),
    ...(settings.agent ? ['--agent', settings.agent] : []),
    ...(settings.variant ? ['--variant', settings.variant] : []),
    ...(settings.dangerouslySkipPermissions ? ['--dangerously-skip-permissions'] : []),
    ...settings.extraArgs,
  ],
  reader: (_, model) => new OpencodeReader(model),
  /** Its models are named `provider/model`. */
  providerOf: ({ model }) => (model?.includes('/') ? model.split('/')[0]! : null),
  keys: KEYS,
  loginFolder,
  loginFile: LOGIN_FILE,
  installHint:
    'If it is installed elsewhere, write its path as the command. To install it: `npm install -g opencode-ai`',
  check,
})

async function check(_run: RunCommand, { env }: { env: Record<string, string> }): Promise<ProbeCheck[]> {
  const key = keyCheck(env, KEYS)
  return [key ?? (await fileCheck(join(loginFolder(env), LOGIN_FILE)))]
}
