import { spawn } from 'node:child_process'

/** Runs git to its end, or to its time limit: then it and whatever it started are ended. */

export interface GitEnd {
  /** Null when it was cut off for saying too much. */
  code: number | null
  stdout: string
  stderr: string
}

export interface GitLimits {
  timeoutMs: number
  /** Git takes its lock files away when it is asked to end. So long it may take. */
  graceMs: number
  mostOutputBytes: number
}

/** Git did not end in time. */
export class GitTimeout extends Error {
  override name = 'GitTimeout'
}

/** Rejects with GitTimeout, or with what the system says when git cannot be started. */
export function runGit(
  args: readonly string[],
  env: Record<string, string>,
  { timeoutMs, graceMs, mostOutputBytes }: GitLimits,
): Promise<GitEnd> {
  return new Promise((resolve, reject) => {
    // A process group of its own: a program that git started may hold its pipes, and would be waited for after git is gone.
    const child = spawn('git', args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
    let bytes = 0
    let why: 'timeout' | 'too_much' | null = null
    let killing: NodeJS.Timeout | undefined
    let isOver = false
    const settle = (code: number | null) => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      clearTimeout(killing)
      if (why !== null) signal('SIGKILL')
      for (const pipe of [child.stdout, child.stderr]) pipe.destroy()
      if (why === 'timeout') return reject(new GitTimeout(`took longer than ${timeoutMs / 1000} s`))
      const text = (chunks: Buffer[]) => Buffer.concat(chunks).toString('utf8')
      resolve({ code, stdout: text(output.stdout), stderr: text(output.stderr) })
    }
    const signal = (name: NodeJS.Signals) => {
      try {
        process.kill(-child.pid!, name)
      } catch {
        // All of them have ended.
      }
    }
    const stop = (reason: 'timeout' | 'too_much') => {
      if (why !== null) return
      why = reason
      signal('SIGTERM')
      killing = setTimeout(() => settle(null), graceMs)
      child.once('exit', () => settle(null))
    }
    const timer = setTimeout(() => stop('timeout'), timeoutMs)
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk: Buffer) => {
        if (bytes >= mostOutputBytes) return
        output[stream].push(chunk.subarray(0, mostOutputBytes - bytes))
        bytes += chunk.length
        if (bytes >= mostOutputBytes) stop('too_much')
      })
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('close', (code, name) => settle(why === null && name !== null ? 128 : code))
  })
}
