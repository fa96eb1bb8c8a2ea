import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandLineOf, startOf } from '../../src/embedded-postgres/process-identity.ts'

/** Baton as people run it: compiled, in a process of its own, with almost nothing of our environment. */

/**
 * The compiled form of one of our files. The test run builds all of them once, before the first test (global-setup), to
 * dist/: below the repository, so that packages are found, in a folder that other users may enter.
 */
export const compiledFile = (source: string) => resolve(DIST, source.replace(/\.ts$/, '.js'))

const root = resolve(import.meta.dirname, '../..')
// Benchmarks are compiled themselves, and then are there already.
const DIST = basename(root) === 'dist' ? root : join(root, 'dist')

export const SERVER = compiledFile('server/main.ts')

export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Launched {
  child: ChildProcess
  /** The address, once it is served. Fails with the output when the process ends before that. */
  ready: Promise<string>
  ended: Promise<Ending>
  stdout(): string
  stderr(): string
}

export interface LaunchOptions {
  /** Options of Node itself. */
  nodeArgs?: string[]
  /** Whether it can send messages to us. */
  isConnected?: boolean
  uid?: number
  gid?: number
  cwd?: string
}

const READY = /^baton ready on (http:\/\/\S+)$/m

export function launch(
  env: Record<string, string>,
  { nodeArgs = [], isConnected = false, ...options }: LaunchOptions = {},
): Launched {
  const child = spawn(process.execPath, [...nodeArgs, SERVER], {
    cwd: '/',
    ...options,
    // Tests work in workspaces of their own, and their agents are programs.
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', BATON_PORT: '0', BATON_AGENT_ADAPTERS: '*', ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(isConnected ? (['ipc'] as const) : [])],
  })
  let stdout = ''
  let stderr = ''
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal }) as Ending)
  const ready = new Promise<string>((served, failed) => {
    child.stdout!.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk
      const [, url] = READY.exec(stdout) ?? []
      if (url) served(url)
    })
    child.stderr!.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk
    })
    ended.then(({ code, signal }) =>
      failed(new Error(`Baton ended (${signal ?? code}) before it served: ${stderr}${stdout}`)),
    )
  })
  // A test that launches it to be refused or killed does not wait for it to be ready.
  ready.catch(() => undefined)
  return { child, ready, ended, stdout: () => stdout, stderr: () => stderr }
}

export interface Process {
  pid: number
  start: string
  command: string
}

/** Every process that works in this folder or has a path in it as an argument: the postmaster, its children, an initdb. */
export function processesOn(folder: string): Process[] {
  return allPids().flatMap((pid) => {
    if (pid === process.pid) return []
    const command = commandLineOf(pid)
    if (!command.includes(folder) && !workingFolderOf(pid).startsWith(folder)) return []
    const start = startOf(pid)
    return start === undefined ? [] : [{ pid, start, command }]
  })
}

export const allPids = () =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)

function workingFolderOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}

export const isRunning = ({ pid, start }: Process) => startOf(pid) === start

export function killProcess(process_: Process): void {
  if (isRunning(process_)) process.kill(process_.pid, 'SIGKILL')
}

/** For processes that are not our children, so that no event reports their end. */
export async function allGone(folder: string): Promise<void> {
  // To look at all processes of the machine takes long: while some are left, only at these.
  for (let left = processesOn(folder); left.length > 0; left = processesOn(folder))
    while (left.some(isRunning)) await sleep(10)
}

/** The embedded database in this data folder, as its superuser. */
export function embeddedUrl(dataFolder: string): string {
  const password = readFileSync(join(dataFolder, 'postgres/password'), 'utf8').trim()
  const [, , , port] = readFileSync(join(dataFolder, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n')
  return `postgres://postgres:${password}@127.0.0.1:${port}/baton`
}

export const ownerKeyIn = (dataFolder: string) => readFileSync(join(dataFolder, 'owner-key'), 'utf8').trim()
