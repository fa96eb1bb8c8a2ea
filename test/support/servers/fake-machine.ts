import type { Machine } from './machine.ts'

export interface Pretended extends Machine {
  /** Every command that was run, with its variables and without its `-o` options. */
  ran: string[]
  said: string[]
}

export interface Pretence {
  env?: Machine['env']
  isRoot?: boolean
  /** The paths that exist. */
  files?: string[]
  /** The packages that apt knows, from the start and after an update. */
  known?: string[]
  knownAfterUpdate?: string[]
  /** Packages that are installed already. */
  installed?: string[]
  /** What a program prints; with an exclamation mark before it, it fails. */
  says?: Record<string, string>
}

export const DEBIAN = ['/etc/debian_version', '/usr/bin/apt-get']

/** A machine that has only what the test defines, and does nothing. */
export function pretend(pretence: Pretence = {}): Pretended {
  const { env = {}, isRoot = false, files = [], says = {} } = pretence
  const { known = [], knownAfterUpdate = known, installed = [] } = pretence
  const ran: string[] = []
  const said: string[] = []
  let packages = known
  return {
    env,
    isRoot,
    exists: (path) => files.includes(path),
    say: (line) => said.push(line),
    async run(program, args, given = {}) {
      // A real program is still at work when another one would be started.
      await new Promise(setImmediate)
      const variables = Object.entries(given).map(([name, value]) => `${name}=${value}`)
      const isNoOption = (word: string, i: number) => word !== '-o' && args[i - 1] !== '-o'
      ran.push([...variables, program, ...args.filter(isNoOption)].join(' '))
      if (args.includes('update')) packages = knownAfterUpdate
      if (program === 'apt-cache') {
        const versionIn = (list: string[]) => (list.includes(args[1]!) ? '6.0' : '(none)')
        const output = `${args[1]}:\n  Installed: ${versionIn(installed)}\n  Candidate: ${versionIn(packages)}`
        return { ok: true, output }
      }
      const words = Object.entries(says).find(([begin]) =>
        `${program} ${args.join(' ')}`.includes(begin),
      )?.[1]
      return { ok: !words?.startsWith('!'), output: words?.replace(/^!/, '') ?? '' }
    },
    ran,
    said,
  }
}
