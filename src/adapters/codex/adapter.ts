import { join } from 'node:path'
import { z } from 'zod'
import { cliAdapter } from '../cli.ts'
import { firstLineOf, keyCheck, type RunCommand } from '../cli-probe.ts'
import { cliSettings } from '../cli-settings.ts'
import { configOf } from '../config.ts'
import type { ProbeCheck } from '../protocol.ts'
import { CodexReader } from './reader.ts'

/** The Codex CLI as an agent (Paperclip 7.2, as its newer versions are used). */

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

export const codexAdapter = cliAdapter({
  type: 'codex_local',
  config: configOf('codex_local', CodexSettings),
  inheritsEnv: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'CODEX_API_KEY', 'CODEX_HOME'],
  choosesSessions: false,
  argumentsFor: (settings, session) => [
    ...(settings.search ? ['--search'] : []),
    'exec',
    // Before our own, so that a flag of theirs that takes several values ends where ours begin.
    ...settings.extraArgs,
    '--json',
    '--skip-git-repo-check',
    ...(settings.dangerouslyBypassApprovalsAndSandbox ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
    ...(settings.model ? ['--model', settings.model] : []),
    ...(session ? ['resume', session.id] : []),
    '-',
  ],
  reader: (runtimeState) => new CodexReader(runtimeState),
  providerOf: () => 'openai',
  keys: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
  loginFolder: (env) => env.CODEX_HOME || join(env.HOME || '/', '.codex'),
  installHint: 'Install it with `npm install -g @openai/codex`, or set command to its path.',
  look,
})

async function look(ask: RunCommand, { env }: { env: Record<string, string> }): Promise<ProbeCheck[]> {
  return [keyCheck(env, ['CODEX_API_KEY']) ?? (await login(ask))]
}

async function login(ask: RunCommand): Promise<ProbeCheck> {
  const name = 'login'
  const { exitCode, stdoutTail, stderrTail } = await ask('login', 'status')
  if (exitCode === 0)
    return {
      name,
      ok: true,
      detail: firstLineOf(stdoutTail || stderrTail) || 'It says that it is logged in.',
    }
  const hint = 'Run `codex login` as the user Baton runs as, or set CODEX_API_KEY in env.'
  return { name, ok: false, detail: firstLineOf(stderrTail || stdoutTail) || 'It is not logged in.', hint }
}
