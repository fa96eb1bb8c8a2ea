import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { complaintIn, type Launch } from './launch.ts'

const STOP_MS = 10_000

/** Why a server ended before it was ready. */
export class NotReady extends Error {
  override name = 'NotReady'
  readonly obstacle: 'port taken' | 'files in use' | 'other'

  constructor(line: string, obstacle: NotReady['obstacle']) {
    super(line)
    this.obstacle = obstacle
  }
}

export interface Postmaster {
  pid: number
  /** Settles when clients can connect; fails with NotReady. A recovery after a crash may take long. */
  ready: Promise<void>
  /** Settles with how the server ended. */
  ended: Promise<string>
  stop(): Promise<void>
  /** Requests a fast stop without waiting: all that an exiting process can do. */
  interrupt(): void
}

export function startPostmaster(
  launch: Launch,
  program: string,
  args: string[],
  log: (line: string) => void,
): Postmaster {
  const child = launch(program, args)
  child.stdin.end()
  child.stdout.resume()
  const lines = createInterface({ input: child.stderr })
  const closed = once(lines, 'close')
  const seen: string[] = []
  lines.on('line', log)

  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    child.once('error', (error) => resolve(error.message))
  })
  const ready = new Promise<void>((resolve, reject) => {
    lines.on('line', function watch(line) {
      seen.push(line)
      if (!line.endsWith('database system is ready to accept connections')) return
      lines.off('line', watch)
      resolve()
    })
    ended.then(async (ending) => {
      // The last lines may still be in the pipe.
      await Promise.race([closed, sleep(500, undefined, { ref: false })])
      reject(whyNotReady(seen, ending))
    })
  })
  // A server that ends while it is being stopped is no error.
  ready.catch(() => {})

  return {
    pid: child.pid ?? 0,
    ready,
    ended,
    interrupt: () => void child.kill('SIGINT'),
    async stop() {
      // Fast: sessions are cut off, a checkpoint is written. If that hangs: immediate, the next start recovers.
      child.kill('SIGINT')
      const timer = setTimeout(() => child.kill('SIGQUIT'), STOP_MS)
      await ended
      clearTimeout(timer)
    },
  }
}

function whyNotReady(lines: string[], ending: string): NotReady {
  const text = lines.join('\n')
  const line = complaintIn(lines) ?? ending
  if (/could not bind IPv4 address/.test(text)) return new NotReady(line, 'port taken')
  if (/lock file "postmaster.pid" already exists|pre-existing shared memory block/.test(text)) {
    return new NotReady(line, 'files in use')
  }
  return new NotReady(line, 'other')
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
