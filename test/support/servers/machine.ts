import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** What the search for a server needs of the machine. A test replaces the machine. */
export interface Machine {
  env: Record<string, string | undefined>
  isRoot: boolean
  exists(path: string): boolean
  /** Runs a program to its end; `output` is all that it printed. */
  run(program: string, args: string[], env?: Record<string, string>): Promise<Ran>
  /** One line for the person who runs the tests. */
  say(line: string): void
}

export interface Ran {
  ok: boolean
  output: string
}

export const thisMachine: Machine = {
  env: process.env,
  isRoot: process.geteuid?.() === 0,
  exists: existsSync,
  run: (program, args, env = {}) =>
    new Promise((resolve) => {
      const PATH = foldersOf(process.env).join(delimiter)
      const options = { env: { ...process.env, PATH, LC_ALL: 'C', ...env }, maxBuffer: 64 * 1024 * 1024 }
      execFile(program, args, options, (error, stdout, stderr) => {
        const said = `${stdout}${stderr}`
        resolve({ ok: error === null, output: said.trim() || (error?.message ?? '') })
      })
    }),
  say: (line) => void process.stderr.write(`${line}\n`),
}

export const find = (program: string, { env, exists }: Machine): string | undefined =>
  foldersOf(env)
    .map((folder) => join(folder, program))
    .find((path) => exists(path))

/** Servers and their installers are in folders that a PATH may leave out. */
const USUAL_FOLDERS = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/bin', '/sbin']

const foldersOf = ({ PATH = '' }: Machine['env']) => [
  ...PATH.split(delimiter).filter(Boolean),
  ...USUAL_FOLDERS,
]
