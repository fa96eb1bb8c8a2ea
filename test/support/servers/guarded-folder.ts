import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { dataFolder } from './data-folder.ts'
import { startWatcher, type Watcher } from './watcher.ts'

export interface Running {
  pid: number
  /** Settles with how it ended. */
  ended: Promise<string>
  terminate(by?: NodeJS.Signals): void
  kill9(): void
}

const LOG_LINES = 20

/** A fresh folder, and programs that work in it, one at a time. Neither outlives this process. */
export class GuardedFolder {
  readonly path: string
  readonly data: string
  readonly #watcher: Watcher

  private constructor(path: string) {
    this.path = path
    this.data = join(path, 'data')
    this.#watcher = startWatcher(path)
  }

  static async make(): Promise<GuardedFolder> {
    const folder = new GuardedFolder(await realpath(await mkdtemp(join(dataFolder(), 'baton-test-'))))
    await mkdir(folder.data)
    return folder
  }

  run(program: string, args: string[]): Running {
    // Into a file: a pipe would have to be read, and would end the program with us in the middle of a write.
    const log = openSync(this.#log, 'a')
    const child = spawn(program, args, {
      cwd: this.path,
      // Nothing else of ours is inherited, as servers read settings from there too.
      env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
      // A group of its own, which can be ended as a whole: servers and scripts have children.
      detached: true,
      stdio: ['ignore', log, log],
    })
    closeSync(log)
    this.#watcher.watch(child.pid)

    const ended = new Promise<string>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
      child.once('error', (error) => resolve(error.message))
    })
    // Once it has ended, its pid may belong to another process.
    let group = child.pid
    ended.then(() => {
      group = undefined
      this.#watcher.watch(undefined)
    })
    return {
      pid: child.pid ?? 0,
      ended,
      terminate: (by = 'SIGTERM') => void child.kill(by),
      kill9: () => void (group && process.kill(-group, 'SIGKILL')),
    }
  }

  get #log() {
    return join(this.path, 'server.log')
  }

  /** The last output of what ran here. */
  endOfLog(): string {
    return readFileSync(this.#log, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n')
  }

  remove = () => this.#watcher.finish()
}
