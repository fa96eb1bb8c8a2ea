import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { watchDescendants } from '../../src/adapters/child/descendants.ts'
import { bootId, entryOf, startTimeOf } from '../../src/adapters/child/identity.ts'
import { Lines, LONGEST_LINE } from '../../src/adapters/child/lines.ts'
import { type ChildSpec, lowerPriority, runChild } from '../../src/adapters/child/run-child.ts'
import {
  endTree,
  processesInFolder,
  processesOf,
  processesOfRun,
  processesWithMarkers,
} from '../../src/adapters/child/tree.ts'
import type { AdapterHooks } from '../../src/adapters/protocol.ts'
import { freshRunId, gone, isAlive, never, PLAIN_ENV, recordingHooks } from '../support/adapter-runs.ts'
import { until } from '../support/nodes.ts'
import { rounds } from '../support/rounds.ts'

/** Programs that run, misbehave and are stopped, on real processes. */

const FILE = join(import.meta.dirname, '../..', 'package.json')
let folder: string
const started: ChildProcess[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-child-'))
})
afterEach(async () => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const shell = (script: string, more: Partial<ChildSpec> = {}): ChildSpec => ({
  command: 'sh',
  args: ['-c', script],
  cwd: folder,
  env: PLAIN_ENV,
  stdin: '',
  timeoutMs: 0,
  graceMs: 10_000,
  runId: freshRunId(),
  ...more,
})

async function run(spec: ChildSpec, hooks: AdapterHooks = {}, signal: AbortSignal = never) {
  const lines: string[] = []
  const end = await runChild(spec, hooks, (line) => void lines.push(line), signal)
  return { end, lines }
}

/** A process that belongs to no run. */
async function bystander(env: Record<string, string> = {}, cwd = tmpdir()): Promise<number> {
  const child = spawn('sleep', ['1000'], {
    ...{ cwd, env: { ...PLAIN_ENV, ...env }, detached: true, stdio: 'ignore' },
  })
  started.push(child)
  await new Promise((resolve) => child.once('spawn', resolve))
  return child.pid!
}

/** The number in a file that a script writes. */
const pidIn = (file: string) =>
  until(
    async () =>
      existsSync(file) && /\n/.test(readFileSync(file, 'utf8')) && Number(readFileSync(file, 'utf8')),
  )

/** A script that starts a process without a marker, outside its group, whose parent ends when the file `go` is there. */
const escapee = (file: string, go: string) =>
  `sh -c "setsid env -i PATH=$PATH sh -c 'echo \\$\\$ > ${file}; exec sleep 1000' > /dev/null 2>&1 < /dev/null & while [ ! -e ${go} ]; do sleep 0.02; done"`
let files = 0
const freshFile = () => join(folder, `file-${++files}`)

const block = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const blockUntilZombie = (pid: number) => {
  while (!entryOf(pid)!.isZombie) block(1)
}

test('a child and what it starts yield to the server: their priority is lower', async () => {
  const says = 'console.log(require("node:os").getPriority())'
  const { lines } = await run(
    // Begins with its prompt, which it gets when it is recorded; by then its priority is set.
    shell(`read -r prompt; "$NODE" -e '${says}'; (sleep 0.05; "$NODE" -e '${says}') & wait`, {
      env: { ...PLAIN_ENV, NODE: process.execPath },
      stdin: 'begin\n',
    }),
  )
  const lower = String(Math.min(getPriority() + 10, 19))
  expect(lines).toEqual([lower, lower])
})

test('a child that has ended before its priority could be set is no error', () => {
  expect(() => lowerPriority(2 ** 22 + 1)).not.toThrow()
})

describe('the output of a child', () => {
  test.runIf(process.platform === 'linux')(
    'is whole when the exit of the child is noticed before its output',
    async () => {
      const go = freshFile()
      const { hooks, logged } = recordingHooks()
      let pid = 0
      const recorded: AdapterHooks = {
        ...hooks,
        event: async (type, payload) => {
          if (type === 'process') pid = (payload as { pid: number }).pid
        },
      }
      const ending = run(shell(`while [ ! -e ${go} ]; do sleep 0.01; done; echo done`), recorded)
      await until(async () => pid > 0)
      // Longer than the quiet after which a pipe may be closed.
      await sleep(400)
      // Any exit makes Node look for all children that have ended, after it has read the pipes that were ready. Here the
      // child prints and ends in between.
      const other = spawn('echo', ['now'], { stdio: ['ignore', 'pipe', 'ignore'] })
      started.push(other)
      other.stdout.once('data', () => {
        writeFileSync(go, '')
        blockUntilZombie(pid)
        // The timers that follow are due before the pipes are read again.
        setImmediate(() => block(50))
      })
      await new Promise((resolve) => other.once('spawn', resolve))
      blockUntilZombie(other.pid!)
      const { end, lines } = await ending
      expect(lines).toEqual(['done'])
      expect(logged('stdout')).toBe('done\n')
      expect(end).toMatchObject({ exitCode: 0, stopped: null })
    },
  )

  test('is read line by line, and logged unchanged', async () => {
    const { hooks, logged } = recordingHooks()
    const script = String.raw`cat; printf 'one\r\n\ntwo\nlast'; printf 'oops' >&2; exit 3`
    const { end, lines } = await run(shell(script, { stdin: 'the prompt\n' }), hooks)
    expect(lines).toEqual(['the prompt', 'one', 'two', 'last'])
    expect(end).toEqual({
      exitCode: 3,
      signal: null,
      stopped: null,
      spawnError: null,
      stdoutTail: 'the prompt\none\r\n\ntwo\nlast',
      stderrTail: 'oops',
    })
    expect(logged('stdout')).toBe('the prompt\none\r\n\ntwo\nlast')
    expect(logged('stderr')).toBe('oops')
  })

  test('is intact even if characters are split between two writes', async () => {
    const { hooks, logged } = recordingHooks()
    const script = String.raw`for i in 1 2 3; do printf '\360\237'; sleep 0.05; printf '\230\200\303'; sleep 0.05; printf '\251'; done`
    const { end, lines } = await run(shell(script), hooks)
    expect(lines).toEqual(['😀é😀é😀é'])
    expect(logged('stdout')).toBe('😀é😀é😀é')
    expect(end.stdoutTail).toBe('😀é😀é😀é')
  })

  test('is read only as fast as it is consumed, however much it is', async () => {
    const BYTES = rounds(40, 100) * 1_000_000
    let [taken, letOn] = [0, () => {}]
    const mayContinue = new Promise<void>((resolve) => {
      letOn = resolve
    })
    let pid = 0
    const hooks: AdapterHooks = {
      event: async (_type, payload) => {
        pid = payload.pid as number
      },
      log: async ({ stream, chunk }) => {
        if (stream === 'stdout') taken += chunk.length
        await mayContinue
      },
    }
    const over = run(shell(`exec head -c ${BYTES} /dev/zero`), hooks)
    const written = () => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])
    // It writes until the pipe is full: then the number of bytes written stays the same.
    let [before, same] = [-1, 0]
    await until(async () => {
      if (taken === 0) return false
      const now = written()
      same = now === before ? same + 1 : 0
      before = now
      return same === 40
    })
    expect(before).toBeLessThan(5_000_000)
    expect(isAlive(pid)).toBe(true)
    letOn()
    const { end } = await over
    expect(end.exitCode).toBe(0)
    expect(taken).toBe(BYTES)
  })

  test('is read to its end, however slowly, after the child has ended', async () => {
    const { hooks, logged } = recordingHooks()
    let isFirst = true
    const slow: AdapterHooks = {
      log: async (event) => {
        // Longer than the wait for pipes that a grandchild holds.
        if (isFirst) await sleep(3_000)
        isFirst = false
        await hooks.log(event)
      },
    }
    const { end } = await run(shell('head -c 150000 /dev/zero'), slow)
    expect(end.exitCode).toBe(0)
    expect(logged('stdout')).toHaveLength(150_000)
  })

  test('is logged but not read where a line is longer than 8 MB', async () => {
    const { hooks, logged } = recordingHooks()
    const script = `echo before; head -c ${LONGEST_LINE + 1} /dev/zero | tr '\\0' x; echo; echo after`
    const { lines } = await run(shell(script), hooks)
    expect(lines).toEqual(['before', 'after'])
    expect(logged('stdout')).toHaveLength(LONGEST_LINE + 1 + 'before\n\nafter\n'.length)
    expect(logged('system')).toContain('Lines of more than 8 MB were logged but not parsed: 1.')
    const longest = new Lines()
    expect(longest.take(`${'x'.repeat(LONGEST_LINE)}\n`)).toHaveLength(1)
  })

  test('is kept in memory at its end only', async () => {
    const { end } = await run(shell('head -c 20000 /dev/zero | tr "\\0" x; printf "the end"; printf err >&2'))
    expect(end.stdoutTail).toHaveLength(8_192)
    expect(end.stdoutTail).toMatch(/xthe end$/)
  })

  test('that makes its reader fail: the error is reported at the end, after the child has ended', async () => {
    const spec = shell('echo bad; sleep 1000 & seq 1 100000')
    const reading = runChild(
      spec,
      {},
      () => {
        throw new Error('cannot read this')
      },
      never,
    )
    await expect(reading).rejects.toThrow('cannot read this')
    expect(processesOf(spec.runId)).toEqual([])
  })
})

describe('the identity of a child', () => {
  test('is recorded before the child gets its prompt and before its output is read', async () => {
    const { hooks, reported } = recordingHooks()
    const file = freshFile()
    let seen: unknown = null
    const slow: AdapterHooks = {
      ...hooks,
      event: async (type, what) => {
        const { pid } = what as { pid: number }
        const identity = { pid, startTime: startTimeOf(pid), bootId: bootId() }
        // It has printed something already; the prompt, and its answer, had time to arrive.
        await until(async () => existsSync(file))
        await sleep(300)
        seen = { identity, toldBefore: [...reported], prompt: readFileSync(file, 'utf8') }
        await hooks.event(type, what)
      },
    }
    const script = `echo early; : > ${file}; cat > ${file}; cat ${file}`
    const { lines } = await run(shell(script, { stdin: 'prompt' }), slow)
    expect(seen).toEqual({ identity: reported[0]!.what, toldBefore: [], prompt: '' })
    expect(reported[0]).toMatchObject({ hook: 'event', type: 'process' })
    expect(lines).toEqual(['early', 'prompt'])
  })

  test('that ended before it was recorded does not cost its output', async () => {
    const { hooks, logged } = recordingHooks()
    const slow: AdapterHooks = {
      ...hooks,
      event: async (_type, { pid }) => {
        await until(async () => !isAlive(pid as number))
        // Its end was noticed, and output that is not read by then is discarded.
        await sleep(200)
      },
    }
    const { end, lines } = await run(shell('echo quick; exit 4'), slow)
    expect(lines).toEqual(['quick'])
    expect(logged('stdout')).toBe('quick\n')
    expect(end.exitCode).toBe(4)
  })

  test('need not be recordable for the run to continue', async () => {
    const broken = async () => {
      throw new Error('the database is unreachable')
    }
    const { end, lines } = await run(shell('echo fine'), { event: broken, log: broken })
    expect(end.exitCode).toBe(0)
    expect(lines).toEqual(['fine'])
  })

  test('is its start time, whatever its program is called', async () => {
    const program = join(folder, ') 1 (x) 2 3')
    copyFileSync('/bin/sleep', program)
    chmodSync(program, 0o755)
    const child = spawn(program, ['1000'], { stdio: 'ignore' })
    started.push(child)
    await until(async () => readFileSync(`/proc/${child.pid}/comm`, 'utf8').startsWith(') 1'))
    const uptimeSeconds = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0])
    expect(Number(startTimeOf(child.pid!)) / 100).toBeGreaterThan(uptimeSeconds - 30)
    expect(Number(startTimeOf(child.pid!)) / 100).toBeLessThanOrEqual(uptimeSeconds + 1)
    expect(entryOf(child.pid!)).toMatchObject({ parent: process.pid, isZombie: false })
    expect(startTimeOf(2 ** 30)).toBeNull()
  })
})

describe('a child is stopped', () => {
  test('at its timeout, and may end on its own if it reacts to the signal', async () => {
    const { end } = await run(shell('trap "exit 7" TERM; while :; do sleep 0.05; done', { timeoutMs: 300 }))
    expect(end).toMatchObject({ exitCode: 7, signal: null, stopped: 'timeout' })
  })

  test('on request', async () => {
    const stop = new AbortController()
    const { hooks, reported } = recordingHooks()
    const over = run(shell('echo ready; sleep 1000'), hooks, stop.signal)
    await until(async () => reported.some(({ hook }) => hook === 'log'))
    stop.abort()
    expect((await over).end).toMatchObject({ exitCode: null, signal: 'SIGTERM', stopped: 'aborted' })
  })

  test('by SIGKILL after its grace period, if it ignores SIGTERM', async () => {
    const spec = shell('trap "" TERM; while :; do sleep 0.05; done', { timeoutMs: 200, graceMs: 700 })
    const began = performance.now()
    const { end } = await run(spec)
    expect(end).toMatchObject({ exitCode: null, signal: 'SIGKILL', stopped: 'timeout' })
    expect(performance.now() - began).toBeGreaterThan(850)
    expect(processesOf(spec.runId)).toEqual([])
  })

  test('and gets the signal once, not repeatedly', async () => {
    const script = `count=0; trap 'count=$((count+1))' TERM; i=0; while [ $i -lt 20 ]; do sleep 0.05; i=$((i+1)); done; echo $count`
    // The first signal ends the running sleeps; those that begin later did not get it.
    const { lines } = await run(shell(script, { timeoutMs: 200 }))
    expect(lines).toEqual(['1'])
  })

  test('together with a grandchild that moved to a session of its own', async () => {
    const file = freshFile()
    const spec = shell(
      `setsid sh -c 'echo $$ > ${file}; trap "" TERM; while :; do sleep 0.05; done' & sleep 1000`,
      {
        graceMs: 500,
      },
    )
    const stop = new AbortController()
    const over = run(spec, {}, stop.signal)
    const grandchild = await pidIn(file)
    expect(entryOf(grandchild)!.group).toBe(grandchild)
    stop.abort()
    expect((await over).end.stopped).toBe('aborted')
    expect(isAlive(grandchild)).toBe(false)
  })

  test('together with a grandchild that has a session of its own and discarded its environment', async () => {
    const file = freshFile()
    const spec = shell(`setsid env -i /bin/sh -c 'echo $$ > ${file}; exec /bin/sleep 1000' & sleep 1000`)
    const stop = new AbortController()
    const over = run(spec, {}, stop.signal)
    const grandchild = await pidIn(file)
    await until(async () => readFileSync(`/proc/${grandchild}/comm`, 'utf8') === 'sleep\n')
    stop.abort()
    await over
    expect(isAlive(grandchild)).toBe(false)
  })

  test('before it was started, and then never starts', async () => {
    const file = freshFile()
    const { end } = await run(shell(`: > ${file}`), {}, AbortSignal.abort())
    expect(end).toMatchObject({ exitCode: null, stopped: 'aborted', spawnError: null })
    expect(existsSync(file)).toBe(false)
  })

  test('no longer once it has ended on its own', async () => {
    const stop = new AbortController()
    const over = run(shell('echo done; exit 0'), { log: async () => sleep(500) }, stop.signal)
    setTimeout(() => stop.abort(), 300)
    expect((await over).end).toMatchObject({ exitCode: 0, stopped: null })
  })

  test('never because its timeout is longer than timers can count', async () => {
    const { end } = await run(shell('sleep 0.2; exit 5', { timeoutMs: 2 ** 33 }))
    expect(end).toMatchObject({ exitCode: 5, stopped: null })
  })
})

describe('when a child has ended', () => {
  test('a grandchild that holds its pipe is stopped, and the run does not wait for it', async () => {
    const file = freshFile()
    const spec = shell(`sleep 1000 & echo $! > ${file}; echo said`)
    const { end, lines } = await run(spec)
    expect(end).toMatchObject({ exitCode: 0, stopped: null })
    expect(lines).toEqual(['said'])
    expect(isAlive(await pidIn(file))).toBe(false)
  })

  test('a grandchild that keeps printing is stopped too', async () => {
    const spec = shell('while :; do echo chatter; sleep 0.01; done & exit 6')
    const { end } = await run(spec)
    expect(end.exitCode).toBe(6)
    expect(processesOf(spec.runId)).toEqual([])
  })

  test('a grandchild that closes its pipes is still stopped', async () => {
    const file = freshFile()
    const spec = shell(
      `setsid sh -c 'echo $$ > ${file}; exec sleep 1000' > /dev/null 2>&1 < /dev/null & sleep 0.2`,
    )
    await run(spec)
    expect(isAlive(await pidIn(file))).toBe(false)
  })

  test('a foreign process that holds its pipe does not delay the run', async () => {
    const file = freshFile()
    // Neither its group nor its environment nor its parent shows that it came from this run. A look at all processes in the
    // few milliseconds before its parent ends would.
    const script = `setsid env -i sh -c "setsid sh -c 'echo \\$\\$ > ${file}; exec sleep 1000' & exit" & while [ ! -s ${file} ]; do sleep 0.02; done; sleep 0.2; echo out`
    const { end, lines } = await run(shell(script))
    const escaped = await pidIn(file)
    if (isAlive(escaped)) process.kill(escaped, 'SIGKILL')
    expect(end.exitCode).toBe(0)
    expect(lines).toEqual(['out'])
  })

  test('a descendant that left its tree, its group and its environment is stopped if it was seen before', async () => {
    const [file, go] = [freshFile(), freshFile()]
    const stopping = new AbortController()
    const { hooks, events } = recordingHooks()
    const ending = run(shell(`${escapee(file, go)}; sleep 1000`), hooks, stopping.signal)
    const pid = await pidIn(file)
    const [{ pid: rootPid }] = events('process') as [{ pid: number }]
    // Those that are watched share each look at the processes: what one has seen, the other has seen too.
    const { descendants, stop } = watchDescendants({ pid: rootPid, startTime: startTimeOf(rootPid) })
    await until(async () => descendants.has({ pid, startTime: startTimeOf(pid)! }))
    stop()
    const parent = entryOf(pid)!.parent
    writeFileSync(go, '')
    await gone(parent)
    stopping.abort()
    const { end } = await ending
    expect(end.stopped).toBe('aborted')
    expect(isAlive(pid)).toBe(false)
  })

  test('it may have ignored its prompt', async () => {
    const { end } = await run(shell('exit 0', { stdin: 'x'.repeat(10_000_000) }))
    expect(end.exitCode).toBe(0)
  })
})

describe('a child that cannot be started', () => {
  test.each([
    [
      'there is no such program',
      { command: 'no-such-program' },
      'ENOENT',
      'There is no program "no-such-program".',
    ],
    [
      'there is no such folder',
      { cwd: '/no/such/folder' },
      'ENOENT_CWD',
      'There is no folder /no/such/folder.',
    ],
    ['its folder is a file', { cwd: FILE }, 'ENOTDIR_CWD', `${FILE} is not a folder.`],
    ['its program is no program', { command: FILE }, 'EACCES', `"${FILE}" is not executable.`],
    ['its path leads through a file', { command: '/dev/null/x' }, 'ENOTDIR', 'is not a folder'],
    ['its arguments are too long', { args: ['x'.repeat(3_000_000)] }, 'E2BIG', 'are too long.'],
    ['an argument has a NUL in it', { args: ['a\0b'] }, 'ERR_INVALID_ARG_VALUE', 'could not be started'],
    ['it is not on its own PATH', { env: { PATH: '/nowhere' } }, 'ENOENT', 'There is no program "sh".'],
  ])('reports why: %s', async (_why, more, code, message) => {
    const { hooks, reported } = recordingHooks()
    const { end } = await run(shell('exit 0', more), hooks)
    expect(end).toMatchObject({ exitCode: null, stopped: null, spawnError: { code } })
    expect(end.spawnError!.message).toContain(message)
    expect(reported).toEqual([])
  })
})

describe('stopping what is left of a run', () => {
  const root = (pid: number, more = {}) => ({
    pid,
    startTime: startTimeOf(pid),
    bootId: bootId(),
    runId: freshRunId(),
    ...more,
  })

  test('stops the process it names and its group', async () => {
    const pid = await bystander()
    await endTree(root(pid), 5_000)
    expect(isAlive(pid)).toBe(false)
  })

  test('does not touch another process that got its pid', async () => {
    const pid = await bystander()
    await endTree(root(pid, { startTime: '1' }), 100)
    await endTree(root(pid, { startTime: null }), 100)
    expect(isAlive(pid)).toBe(true)
  })

  test('touches nothing after a reboot', async () => {
    const pid = await bystander()
    await endTree(root(pid, { bootId: 'another boot' }), 100)
    expect(isAlive(pid)).toBe(true)
  })

  test('finds detached processes by their marker, and none whose marker only looks alike', async () => {
    const runId = freshRunId()
    const [mine, other, liar] = [
      await bystander({ BATON_RUN_ID: runId }),
      await bystander({ BATON_RUN_ID: `${runId}1` }),
      await bystander({ NOT_BATON_RUN_ID: runId, X: `BATON_RUN_ID=${runId}` }),
    ]
    await until(async () => processesOf(runId).length > 0)
    expect(processesWithMarkers().get(runId)).toEqual([mine])
    expect(processesWithMarkers().get(`${runId}1`)).toEqual([other])
    await endTree({ pid: 2 ** 30, startTime: '1', bootId: bootId(), runId }, 5_000)
    await gone(mine)
    expect([other, liar].map(isAlive)).toEqual([true, true])
  })

  test('finds what works in the folder of the run, whoever its parent is and whatever its environment', async () => {
    const [runId, own] = [freshRunId(), mkdtempSync(join(folder, 'worktree-'))]
    const below = join(own, 'src')
    mkdirSync(below)
    mkdirSync(`${own}-other`)
    const [there, inside] = [await bystander({}, own), await bystander({}, below)]
    const others = [
      await bystander({}, folder),
      await bystander({}, `${own}-other`),
      await bystander({ BATON_RUN_ID: freshRunId() }, own),
    ]
    const pids = (found: readonly { pid: number }[]) => found.map(({ pid }) => pid)
    expect(pids(processesOfRun(runId, own))).toEqual([there, inside])
    expect(processesOfRun(runId, null)).toEqual([])
    expect(processesInFolder(own)).toContainEqual({ pid: there, startTime: startTimeOf(there) })
    await endTree({ pid: 0, startTime: null, bootId: null, runId, folder: own }, 5_000)
    expect([there, inside].map(isAlive)).toEqual([false, false])
    expect(others.map(isAlive)).toEqual([true, true, true])
  })

  test('leaves alone what a person has started in a terminal there', async () => {
    const [own, file] = [mkdtempSync(join(folder, 'worktree-')), freshFile()]
    const script = `echo $$ > ${file}; exec sleep 1000`
    // script(1) gives its program a terminal. It works elsewhere itself.
    const terminal = 'exec script -qc "$INNER" /dev/null'
    const child = spawn('sh', ['-c', terminal], {
      ...{ cwd: folder, env: { ...PLAIN_ENV, INNER: `cd ${own} && ${script}` } },
      ...{ stdio: 'ignore', detached: true },
    })
    started.push(child)
    const pid = await pidIn(file)
    expect(processesInFolder(own)).toEqual([])
    await endTree({ pid: 0, startTime: null, bootId: null, runId: freshRunId(), folder: own }, 100)
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })

  test('does not wait for zombies', async () => {
    const [runId, file] = [freshRunId(), freshFile()]
    // The shell becomes a program that never waits for its child.
    const child = spawn('sh', ['-c', `setsid sh -c 'echo $$ > ${file}; sleep 0.3' & exec sleep 1000`], {
      env: { ...PLAIN_ENV, BATON_RUN_ID: runId },
      stdio: 'ignore',
    })
    started.push(child)
    const pid = await pidIn(file)
    const zombie = root(pid)
    await until(async () => entryOf(pid)?.isZombie)
    expect(entryOf(pid)).toMatchObject({ group: pid, startTime: zombie.startTime })
    expect(processesOf(runId)).toEqual([child.pid])
    await endTree(zombie, 100)
    expect(entryOf(pid)).toMatchObject({ isZombie: true })
    expect(isAlive(child.pid!)).toBe(true)
  })

  test('also ends processes that are suspended', async () => {
    const pid = await bystander()
    process.kill(pid, 'SIGSTOP')
    await endTree(root(pid), 200)
    expect(isAlive(pid)).toBe(false)
  })

  test('never ends the calling process or its group', async () => {
    const { group } = entryOf(process.pid)!
    await endTree(root(group), 100)
    await endTree(root(process.pid), 100, { isWatched: true })
    expect(isAlive(process.pid)).toBe(true)
  })
})
