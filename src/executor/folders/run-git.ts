import { spawn } from 'node:child_process'

/** Runs git until it ends or times out; then git and everything it started are ended. */

export interface GitEnd {
  /** Null when git was ended because its output was too large. */
  code: number | null
  stdout: string
  stderr: string
}

export interface GitLimits {
  timeoutMs: number
  /** Git removes its lock files on SIGTERM. This is the time it gets for that. */
  graceMs: number
  mostOutputBytes: number
}

/** What one call of git gets, and who reads its output. */
export interface GitStreams {
  /** For its standard input; without it, there is none. */
  input?: Buffer
  /** Takes the output as it comes, in bytes: for lists of any length. Git is ended when it returns false. */
  onOutput?: (chunk: Buffer) => boolean
}

/** Git did not end in time. */
export class GitTimeout extends Error {
  override name = 'GitTimeout'
}

/** Rejects with GitTimeout, or with the error of the system when git cannot be started. */
export function runGit(
  args: readonly string[],
  env: Record<string, string>,
  { timeoutMs, graceMs, mostOutputBytes }: GitLimits,
  { input, onOutput }: GitStreams = {},
): Promise<GitEnd> {
  return new Promise((resolve, reject) => {
    // A process group of its own: a program that git started may keep the pipes open after git has ended.
    const child = spawn('git', args, { env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
    // Git may end before it has read everything: its exit code tells.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    let bytes = 0
    let stopReason: 'timeout' | 'too_much' | null = null
    let killing: NodeJS.Timeout | undefined
    let isOver = false
    const settle = (code: number | null) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      clearTimeout(killing)
      if (stopReason !== null) signal('SIGKILL')
      for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
      if (stopReason === 'timeout') return reject(new GitTimeout(`took longer than ${timeoutMs / 1000} s`))
      const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString('utf8')
      resolve({ code, stdout: text(output.stdout), stderr: text(output.stderr) })
    }
    const signal = (name: NodeJS.Signals) => {
      try {
        process.kill(-child.pid!, name)
      } catch {
        // All processes have ended.
      }
    }
    const stop = (reason: 'timeout' | 'too_much') => {
      if (stopReason !== null) return
      stopReason = reason
      signal('SIGTERM')
      killing = setTimeout(() => settle(null), graceMs)
      child.once('exit', () => settle(null))
    }
    const timer = setTimeout(() => stop('timeout'), timeoutMs)
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk: Buffer) => {
        if (stream === 'stdout' && onOutput) {
          if (stopReason === null && !onOutput(chunk)) stop('too_much')
          return
        }
        if (bytes >= mostOutputBytes) return
        output[stream].push(chunk.subarray(0, mostOutputBytes - bytes))
        bytes += chunk.length
        if (bytes >= mostOutputBytes) stop('too_much')
      })
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('close', (code, name) => settle(stopReason === null && name !== null ? 128 : code))
  })
}
