import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { LONGEST_TIMER_MS } from '../deadline.ts'
import { quietHooks } from '../hooks.ts'
import type { AdapterHooks, KnownEvents } from '../protocol.ts'
import { watchDescendants } from './descendants.ts'
import { bootId, RUN_MARKER, startTimeOf } from './identity.ts'
import { Lines, LONGEST_LINE, Sieve } from './lines.ts'
import { Output } from './output.ts'
import { type SpawnError, spawnErrorOf } from './spawn-error.ts'
import { endTree, type TreeRoot } from './tree.ts'

const LOWER_BY = 10
const LOWEST = 19

/**
 * Gives a program that was just started, and all that it will start, less of the processors than this server while both want
 * them: pages and leases must not wait for compilers. Where that is not allowed, the program runs as it is.
 */
export function lowerPriority(pid: number): void {
  try {
    const priority = Math.min(getPriority() + LOWER_BY, LOWEST)
    setPriority(pid, priority)
    // Where Linux shares the processors by session first, the priority counts only between the processes of one.
    writeFileSync(`/proc/${pid}/autogroup`, String(priority))
  } catch {
    // It has ended already, belongs to somebody else, or the system has no such thing.
  }
}

/** Runs a program to its end: reads its output, enforces its timeout, and leaves none of its processes behind. */

export interface ChildSpec {
  /** A path, or a name looked up in env.PATH. */
  command: string
  args: readonly string[]
  cwd: string
  /** The whole environment. */
  env: Record<string, string>
  stdin: string
  /** 0: no timeout. */
  timeoutMs: number
  /** Between SIGTERM and SIGKILL. */
  graceMs: number
  /** Its processes carry this in BATON_RUN_ID and are found by it. */
  runId: string
  /** Lines of its stdout that are parsed but not logged. */
  isUnlogged?: ((line: string) => boolean) | undefined
}

/** What is kept of it: no values of variables. */
export const invocationOf = ({ command, args, env }: ChildSpec): KnownEvents['invocation'] => ({
  command,
  args,
  env: Object.keys(env),
})

export interface ChildEnd {
  exitCode: number | null
  signal: string | null
  /** Why Baton stopped it; null if it ended on its own. */
  stopped: 'timeout' | 'aborted' | null
  /** Set if the program never started. */
  spawnError: SpawnError | null
  /** The last 8 kB. */
  stdoutTail: string
  stderrTail: string
}

/** A grandchild may keep the pipes open after the child has ended. After this long without output it is ended too. */
const QUIET_MS = 300
const LONGEST_AFTER_EXIT_MS = 2_000
/** Processes left behind by a child that ended on its own do not deserve a long grace period. */
const LONGEST_LEFTOVER_GRACE_MS = 2_000
/** More than pipes can hold: anything beyond comes from a process outside this run that holds its pipe. */
const LEFT_IN_PIPES_BYTES = 4 * 1024 * 1024

/**
 * Runs the program and passes the lines of its stdout to `onLine`; lines longer than 8 MB are logged but skipped. Output is
 * read only as fast as `hooks.log` and `onLine` take it. When this resolves, no process of the run is left.
 */
export async function runChild(
  spec: ChildSpec,
  hooks: AdapterHooks,
  onLine: (line: string) => void | Promise<void>,
  signal: AbortSignal,
): Promise<ChildEnd> {
  if (signal.aborted) return { ...NEVER_RAN, stopped: 'aborted' }
  const spawned = await spawnOf(spec)
  if ('code' in spawned) return { ...NEVER_RAN, spawnError: spawned }
  return new Run(spec, spawned, quietHooks(hooks), onLine).untilEnd(signal)
}

const NEVER_RAN: ChildEnd = {
  exitCode: null,
  signal: null,
  stopped: null,
  spawnError: null,
  stdoutTail: '',
  stderrTail: '',
}

async function spawnOf({ command, args, cwd, env, runId }: ChildSpec): Promise<ChildProcess | SpawnError> {
  try {
    const child = spawn(command, args, {
      cwd,
      env: { ...env, [RUN_MARKER]: runId },
      stdio: 'pipe',
      shell: false,
      // A process group of its own, so that the whole group can be ended.
      detached: true,
    })
    if (child.pid !== undefined) {
      lowerPriority(child.pid)
      return child.on('error', () => undefined)
    }
    return await new Promise((resolve) => {
      child.once('error', (error) => resolve(spawnErrorOf(error, command, cwd, env.PATH)))
    })
  } catch (error) {
    return spawnErrorOf(error as Error, command, cwd, env.PATH)
  }
}

interface Exit {
  exitCode: number | null
  signal: string | null
}

class Run {
  readonly #spec: ChildSpec
  readonly #child: ChildProcess
  readonly #hooks: Required<AdapterHooks>
  readonly #onLine: (line: string) => void | Promise<void>
  readonly #root: TreeRoot
  readonly #watch: ReturnType<typeof watchDescendants>
  /** Rejects when the program could not be stopped. */
  readonly #exit: Promise<Exit>
  readonly #isRecorded: Promise<void>
  readonly #stdout: Output
  readonly #stderr: Output
  readonly #lines = new Lines()
  readonly #sieve: Sieve | null
  #hasExited = false
  #stopped: ChildEnd['stopped'] = null
  #ending: Promise<void> | null = null
  #rejectExit: (error: unknown) => void = () => undefined
  #failure: { error: unknown } | null = null

  constructor(
    spec: ChildSpec,
    child: ChildProcess,
    hooks: Required<AdapterHooks>,
    onLine: (line: string) => void | Promise<void>,
  ) {
    this.#spec = spec
    this.#child = child
    this.#hooks = hooks
    this.#onLine = onLine
    this.#sieve = spec.isUnlogged ? new Sieve(spec.isUnlogged) : null
    const identity = { pid: child.pid!, startTime: startTimeOf(child.pid!), bootId: bootId() }
    this.#root = { ...identity, runId: spec.runId }
    this.#watch = watchDescendants(identity)
    this.#exit = new Promise((resolve, reject) => {
      this.#rejectExit = reject
      child.once('exit', (exitCode, signal) => {
        this.#hasExited = true
        resolve({ exitCode, signal })
      })
    })
    this.#isRecorded = hooks.event('process', identity)
    this.#stdout = new Output(child.stdout!, (text) => this.#take('stdout', text))
    this.#stderr = new Output(child.stderr!, (text) => this.#take('stderr', text))
    // The program may end or close its stdin before it has read everything.
    child.stdin!.on('error', () => undefined)
    void this.#isRecorded.then(() => child.stdin!.end(spec.stdin))
  }

  async untilEnd(signal: AbortSignal): Promise<ChildEnd> {
    const { timeoutMs } = this.#spec
    const onAbort = () => this.#stop('aborted')
    const onTimeout = () => this.#stop('timeout')
    const timer = timeoutMs > 0 ? setTimeout(onTimeout, Math.min(timeoutMs, LONGEST_TIMER_MS)) : undefined
    signal.addEventListener('abort', onAbort, { once: true })
    // The signal may have been aborted since the spawn.
    if (signal.aborted) onAbort()
    try {
      const exit = await this.#exit
      await this.#isRecorded
      await this.#endLeftovers()
      await this.#drain()
      const [stdoutTail, stderrTail] = [this.#stdout.tail, this.#stderr.tail]
      return { ...exit, stopped: this.#stopped, spawnError: null, stdoutTail, stderrTail }
    } finally {
      clearTimeout(timer)
      this.#watch.stop()
      signal.removeEventListener('abort', onAbort)
      this.#child.stdin?.destroy()
      this.#stdout.close()
      this.#stderr.close()
    }
  }

  #stop(why: 'timeout' | 'aborted'): void {
    if (this.#hasExited || this.#stopped) return
    this.#stopped = why
    this.#ending = this.#end(this.#spec.graceMs)
    this.#ending.catch(this.#rejectExit)
  }

  async #endLeftovers(): Promise<void> {
    if (this.#ending) return this.#ending
    await this.#waitFor(this.#isQuiet, LONGEST_AFTER_EXIT_MS)
    const graceMs = Math.min(this.#spec.graceMs, LONGEST_LEFTOVER_GRACE_MS)
    await this.#end(graceMs)
  }

  #end(graceMs: number): Promise<void> {
    return endTree(this.#root, graceMs, { isWatched: true, seen: this.#watch.descendants })
  }

  /** No process of the run is left to write: what is still in the pipes is the rest of the output. */
  async #drain(): Promise<void> {
    const before = this.#bytes()
    await this.#waitFor(() => this.#isQuiet() || this.#bytes() - before > LEFT_IN_PIPES_BYTES)
    this.#stdout.close()
    this.#stderr.close()
    await this.#closed()
    await this.#log('stdout', this.#sieve?.end() ?? '')
    await this.#read(this.#lines.end())
    const { skipped } = this.#lines
    const mebibytes = LONGEST_LINE / 1024 / 1024
    const chunk = `Lines of more than ${mebibytes} MB were logged but not parsed: ${skipped}.\n`
    if (skipped > 0) await this.#hooks.log({ stream: 'system', chunk })
    if (this.#failure) throw this.#failure.error
  }

  #isQuiet = () => this.#stdout.quietMs() > QUIET_MS && this.#stderr.quietMs() > QUIET_MS
  #bytes = () => this.#stdout.bytes + this.#stderr.bytes
  #closed = () => Promise.all([this.#stdout.ended, this.#stderr.ended])

  /** Waits until the condition holds, the pipes are closed, or the time is over. */
  async #waitFor(condition: () => boolean, longestMs = Number.POSITIVE_INFINITY): Promise<void> {
    let areClosed = false
    const closed = this.#closed().then(() => {
      areClosed = true
    })
    const until = performance.now() + longestMs
    const isOver = () => areClosed || condition() || performance.now() >= until
    for (;;) {
      // Any child's exit makes Node look for all children that have ended, so the exit of this one may be noticed before
      // its last output is read. Quiet is only what is still quiet after the pipes were polled: after two turns of the
      // loop, since the first may be the rest of this one.
      if (isOver()) {
        await nextTurn()
        await nextTurn()
        if (isOver()) return
      }
      await Promise.race([closed, sleep(20)])
    }
  }

  async #take(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    await this.#isRecorded
    await this.#log(stream, stream === 'stdout' && this.#sieve ? this.#sieve.take(text) : text)
    if (stream === 'stdout') await this.#read(this.#lines.take(text))
  }

  async #log(stream: 'stdout' | 'stderr', chunk: string): Promise<void> {
    if (chunk !== '') await this.#hooks.log({ stream, chunk })
  }

  async #read(lines: Iterable<string>): Promise<void> {
    for (const line of lines) {
      if (this.#failure) continue
      try {
        await this.#onLine(line)
      } catch (error) {
        // A failing reader must not stop the pipe: the child would wait forever. The error is thrown at the end.
        this.#failure = { error }
      }
    }
  }
}
