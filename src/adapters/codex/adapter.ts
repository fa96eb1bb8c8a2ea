import { join } from 'node:path'
import { z } from 'zod'
import { record, text } from '../../transcript/json.ts'
import { cliAdapter } from '../cli.ts'
import { firstLineOf, keyCheck, type RunCommand } from '../cli-probe.ts'
import { cliSettings } from '../cli-settings.ts'
import { configOf } from '../config.ts'
import type { ProbeCheck } from '../protocol.ts'
import { codexFiles } from './files.ts'
import { CodexReader } from './reader.ts'

/** The Codex CLI as an agent (Paperclip 7.2, adapted to newer versions). */

const OWN_FLAGS = `
  exec e resume --json --experimental-json --skip-git-repo-check --ephemeral --last --search
  --dangerously-bypass-approvals-and-sandbox --yolo -m --model -C --cd -h --help -V --version`
  .trim()
  .split(/\s+/)

const CodexSettings = z.strictObject({
  ...cliSettings('codex', OWN_FLAGS),
  search: z.boolean().default(false),
  dangerouslyBypassApprovalsAndSandbox: z.boolean().default(false),
})

const KEYS = ['CODEX_API_KEY', 'OPENAI_API_KEY']

export const codexAdapter = cliAdapter({
  type: 'codex_local',
  config: configOf('codex_local', CodexSettings),
  inheritsEnv: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'CODEX_API_KEY', 'CODEX_HOME'],
  choosesSessions: false,
  argumentsFor: (settings, session) => [
    ...(settings.search ? ['--search'] : []),
    'exec',
    // Before the adapter's own flags, so that an extra flag that takes several values ends where those begin.
    ...settings.extraArgs,
    '--json',
    '--skip-git-repo-check',
    ...(settings.dangerouslyBypassApprovalsAndSandbox ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
    ...(settings.model ? ['--model', settings.model] : []),
    ...(session ? ['resume', session.id] : []),
    '-',
  ],
  reader: (runtimeState, model) => new CodexReader(runtimeState, model),
  files: codexFiles,
  providerOf: () => 'openai',
  keys: KEYS,
  loginFolder: (env) => env.CODEX_HOME || join(env.HOME || '/', '.codex'),
  loginFile: 'auth.json',
  keyVariables: KEYS,
  loginHasKey: (login) => text(record(login).OPENAI_API_KEY) !== null,
  installHint:
    'If it is installed elsewhere, write its path as the command. To install it: `npm install -g @openai/codex`',
  check,
})

async function check(run: RunCommand, { env }: { env: Record<string, string> }): Promise<ProbeCheck[]> {
  return [keyCheck(env, ['CODEX_API_KEY']) ?? (await login(run))]
}

async function login(run: RunCommand): Promise<ProbeCheck> {
  const name = 'login'
  const { exitCode, stdoutTail, stderrTail } = await run('login', 'status')
  if (exitCode === 0)
    return {
      name,
      ok: true,
      detail: firstLineOf(stdoutTail || stderrTail) || 'It reports that it is logged in.',
    }
  const hint = 'Run `codex login` as the user Baton runs as, or set CODEX_API_KEY in env.'
  return { name, ok: false, detail: firstLineOf(stderrTail || stdoutTail) || 'It is not logged in.', hint }
}
