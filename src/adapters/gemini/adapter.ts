import { join } from 'node:path'
import { z } from 'zod'
import { cliAdapter } from '../cli.ts'
import type { RunCommand } from '../cli-probe.ts'
import { cliSettings } from '../cli-settings.ts'
import { configOf } from '../config.ts'
import type { ProbeCheck } from '../protocol.ts'
import { geminiFiles } from './files.ts'
import { loginCheck } from './login.ts'
import { GeminiReader } from './reader.ts'

/** The Gemini CLI as an agent. It reads the prompt from stdin when stdin is not a terminal. */

const OWN_FLAGS = `
  -p --prompt -i --prompt-interactive -o --output-format --session-id -r --resume -m --model
  --approval-mode -y --yolo --list-sessions --delete-session -h --help -v --version`
  .trim()
  .split(/\s+/)

const GeminiSettings = z.strictObject({
  ...cliSettings('gemini', OWN_FLAGS),
  approvalMode: z.enum(['default', 'auto_edit', 'yolo', 'plan']).default('default'),
})

const KEYS = ['GEMINI_API_KEY', 'GOOGLE_API_KEY']
const LOGIN_FILE = 'oauth_creds.json'
const loginFolder = (env: Record<string, string>) => join(env.GEMINI_CLI_HOME || env.HOME || '/', '.gemini')

export const geminiAdapter = cliAdapter({
  type: 'gemini_local',
  config: configOf('gemini_local', GeminiSettings),
  inheritsEnv: [
    'GEMINI_*',
    'GOOGLE_API_KEY',
    'GOOGLE_GENAI_USE_VERTEXAI',
    'GOOGLE_GENAI_USE_GCA',
    'GOOGLE_CLOUD_PROJECT',
    'GOOGLE_CLOUD_LOCATION',
    'GOOGLE_APPLICATION_CREDENTIALS',
    'GOOGLE_GEMINI_BASE_URL',
  ],
  choosesSessions: false,
  argumentsFor: (settings, session) => [
    ...['--output-format', 'stream-json'],
    ...(session ? ['--resume', session.id] : []),
    ...(settings.model ? ['--model', settings.model] : []),
    ...(settings.approvalMode === 'default' ? [] : ['--approval-mode', settings.approvalMode]),
    ...settings.extraArgs,
  ],
  reader: () => new GeminiReader(),
  files: geminiFiles,
  providerOf: () => 'google',
  keys: KEYS,
  loginFolder,
  loginFile: LOGIN_FILE,
  keyVariables: [...KEYS, 'GOOGLE_GENAI_USE_VERTEXAI'],
  installHint:
    'If it is installed elsewhere, write its path as the command. To install it: `npm install -g @google/gemini-cli`',
  check,
})

async function check(_run: RunCommand, { env }: { env: Record<string, string> }): Promise<ProbeCheck[]> {
  return [await loginCheck(env, loginFolder(env))]
}
