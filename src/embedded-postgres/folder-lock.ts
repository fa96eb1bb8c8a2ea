import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartRefused } from '../core/refusal.ts'
import { isAlive, ownIdentity, ownRealm, type ProcessIdentity } from './process-identity.ts'

export interface FolderLock {
  release(): Promise<void>
}

interface Holder extends ProcessIdentity {
  /** Which folder is locked: a copied folder brings the lock file of its original along. */
  folder: string
}

/** Of its holder, who touches the file this often. After five beats without a touch it is given up. */
const BEAT_MS = 3_000

/**
 * One Baton server per data folder, from before the first file is made until after the last is closed.
 *
 * The lock is the highest of `lock.1`, `lock.2`, …: whoever finds its holder gone makes the next number, which
 * only one can. Numbers never repeat, since the highest file is never removed, so a slow rival cannot take a lock
 * that it judged before somebody else did. Nothing has to be cleaned up after a kill -9.
 */
export async function lockFolder(folder: string, beatMs = BEAT_MS): Promise<FolderLock> {
  for (;;) {
    const highest = Math.max(0, ...(await lockNumbers(folder)))
    if (highest > 0) await refuseIfHeld(folder, fileOf(folder, highest), beatMs)
    const path = fileOf(folder, highest + 1)
    const holder: Holder = { ...ownIdentity(), folder: await folderIdentity(folder) }
    if (!(await createWhole(path, JSON.stringify(holder)))) continue
    const numbers = await lockNumbers(folder)
    if (Math.max(...numbers) > highest + 1) {
      await rm(path, { force: true })
      continue
    }
    for (const number of numbers) if (number <= highest) await rm(fileOf(folder, number), { force: true })
    return hold(path, beatMs)
  }
}

/** The device and inode: the same after a move, another after a copy. */
export async function folderIdentity(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true })
  return `${dev}:${ino}`
}

function hold(path: string, beatMs: number): FolderLock {
  const beat = setInterval(() => {
    const now = new Date()
    utimes(path, now, now).catch(() => {})
  }, beatMs)
  beat.unref()
  return {
    async release() {
      clearInterval(beat)
      try {
        await writeFile(`${path}.released`, '')
        await rename(`${path}.released`, path)
      } catch {
        // The folder was taken away, and the lock with it. Or the disk is full; then the lock ends with this process.
      }
    },
  }
}

async function refuseIfHeld(folder: string, path: string, beatMs: number): Promise<void> {
  const holder = await holderIn(path)
  if (!holder) return
  const isOfOurRealm = holder.realm === ownRealm()
  const held = isOfOurRealm
    ? holder.folder === (await folderIdentity(folder)) && isAlive(holder)
    : await isBeating(path, beatMs)
  if (held) {
    throw new StartRefused(
      `The data folder ${folder} is in use by another Baton server (process ${holder.pid}${isOfOurRealm ? '' : ' of another container or machine'}): stop that one first, or choose another folder with BATON_DATA.`,
    )
  }
}

/** Undefined once released. A power cut may leave an empty or garbled file, whose holder is gone as well. */
async function holderIn(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder
  } catch {
    return undefined
  }
}

// A holder in another container or before a reboot cannot be looked up by its pid, but a living one touches its file.
async function isBeating(path: string, beatMs: number): Promise<boolean> {
  const modifiedMs = async () => (await stat(path).catch(() => undefined))?.mtimeMs
  const first = await modifiedMs()
  if (first === undefined || Date.now() - first > 5 * beatMs) return false
  await sleep(2.2 * beatMs)
  return (await modifiedMs()) !== first
}

async function createWhole(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${randomUUID()}`
  await writeFile(draft, text)
  try {
    // Unlike open with O_EXCL, a link appears with its content: nobody can read a half-written lock.
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
