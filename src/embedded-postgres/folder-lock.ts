import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartRefused } from '../pure/refusal.ts'
import { isAlive, ownIdentity, ownRealm, type ProcessIdentity } from './process-identity.ts'

export interface FolderLock {
  release(): Promise<void>
}

interface Holder extends ProcessIdentity {
  /** The locked folder: a copied folder contains the lock file of its original. */
  folder: string
}

/** How often the holder touches the file. After five intervals without a touch the lock is stale. */
const HEARTBEAT_MS = 3_000

/**
 * One Baton server per data folder, from before the first file is created until after the last is closed.
 *
 * The lock is the highest of `lock.1`, `lock.2`, …: a server that finds the holder dead creates the next number, which
 * only one can do. Numbers never repeat, since the highest file is never removed, so a slow competitor cannot take a lock
 * based on an outdated check. Nothing has to be cleaned up after a kill -9.
 */
export async function lockFolder(folder: string, heartbeatMs = HEARTBEAT_MS): Promise<FolderLock> {
  for (;;) {
    const highest = Math.max(0, ...(await lockNumbers(folder)))
    if (highest > 0) await refuseIfHeld(folder, fileOf(folder, highest), heartbeatMs)
    const path = fileOf(folder, highest + 1)
    const holder: Holder = { ...ownIdentity(), folder: await folderIdentity(folder) }
    if (!(await createAtomically(path, JSON.stringify(holder)))) continue
    const numbers = await lockNumbers(folder)
    if (Math.max(...numbers) > highest + 1) {
      await rm(path, { force: true })
      continue
    }
    for (const number of numbers) if (number <= highest) await rm(fileOf(folder, number), { force: true })
    return hold(path, heartbeatMs)
  }
}

/** The device and inode: unchanged by a move, different after a copy. */
export async function folderIdentity(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true })
  return `${dev}:${ino}`
}

function hold(path: string, heartbeatMs: number): FolderLock {
  const heartbeat = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => {})
  }, heartbeatMs)
  heartbeat.unref()
  return {
    async release() {
      clearInterval(heartbeat)
      try {
        await writeFile(`${path}.released`, '')
        await rename(`${path}.released`, path)
      } catch {
        // The folder was deleted, and the lock with it. Or the disk is full; then the lock ends with this process.
      }
    },
  }
}

async function refuseIfHeld(folder: string, path: string, heartbeatMs: number): Promise<void> {
  const holder = await holderIn(path)
  if (!holder) return
  const isOfOurRealm = holder.realm === ownRealm()
  const held = isOfOurRealm
    ? holder.folder === (await folderIdentity(folder)) && isAlive(holder)
    : await hasHeartbeat(path, heartbeatMs)
  if (held) {
    throw new StartRefused(
      `The data folder ${folder} is in use by another Baton server (process ${holder.pid}${isOfOurRealm ? '' : ' of another container or machine'}): stop that one first, or choose another folder with BATON_DATA.`,
    )
  }
}

/** Undefined once released. A power cut may leave an empty or garbled file; its holder is dead as well. */
async function holderIn(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

// A holder in another container or before a reboot cannot be found by its pid, but a live one touches its file.
async function hasHeartbeat(path: string, heartbeatMs: number): Promise<boolean> {
  const modifiedMs = async () => (await stat(path).catch(() => undefined))?.mtimeMs
  const first = await modifiedMs()
  if (first === undefined || Date.now() - first > 5 * heartbeatMs) return false
  await sleep(2.2 * heartbeatMs)
  return (await modifiedMs()) !== first
}

async function createAtomically(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, text)
  try {
    // Unlike a file opened with O_EXCL, a link appears with its content: a half-written lock can never be read.
    await link(draft, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await rm(draft, { force: true })
  }
}

async function lockNumbers(folder: string): Promise<number[]> {
  return (await readdir(folder)).flatMap((name) => /^lock\.(\d+)$/.exec(name)?.[1] ?? []).map(Number)
}

function fileOf(folder: string, number: number): string {
  return join(folder, `lock.${number}`)
}
