import { constants, existsSync, lstatSync } from 'node:fs'
import {
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartRefused } from '../pure/refusal.ts'
import { type Account, canRun } from './account.ts'
import { finished, launcher } from './launch.ts'

/** Anyone can take a name in /tmp, so it comes last and is used only if root owns it. */
const PLACES = ['/var/lib/baton', '/opt/baton', '/tmp/baton-postgres']
const PARTIAL = 'partial-'

/**
 * A copy of the binaries in a folder that everyone may enter and only root may change, created once per version.
 * Needed below a 0700 folder such as root's home: Postgres checks itself with access(), which counts the real
 * user's rights only, so no capability helps.
 */
export async function sharedCopyOf(
  native: string,
  name: string,
  account: Account,
  completeCopy: (copy: string) => void,
  places = PLACES,
): Promise<string> {
  const failures: string[] = []
  for (const place of places) {
    try {
      await mkdir(place).then(() => openToAll(place), unlessCode('EEXIST'))
      if (!onlyRootMayChange(place)) throw new Error('users other than root may change it')
      const home = join(place, name)
      if (!existsSync(home)) await copyAtomically(native, place, home, account, completeCopy)
      if (!onlyRootMayChange(home)) throw new Error(`users other than root may change ${home}`)
      if (!canRun(account, home)) throw new Error(`${account.name} may not run ${home}`)
      return home
    } catch (error) {
      failures.push(`${place}: ${(error as Error).message}`)
    }
  }
  throw new StartRefused(
    `User ${account.name} cannot run Postgres from ${native}, and no shared copy could be created (${failures.join('; ')}): move Baton to a folder everyone may enter, or start it as an ordinary user.`,
  )
}

/** Another user who could swap the files, or any folder above them, would run code as the database user. */
export function onlyRootMayChange(path: string, isParent = false): boolean {
  const stats = lstatSync(path)
  // In a sticky folder such as /tmp others may add names, but neither rename nor remove root's.
  const guarded = (stats.mode & 0o022) === 0 || (isParent && (stats.mode & 0o1000) !== 0)
  if (!stats.isDirectory() || stats.uid !== 0 || !guarded) return false
  const parent = dirname(path)
  return parent === path || onlyRootMayChange(parent, true)
}

async function copyAtomically(
  native: string,
  place: string,
  home: string,
  account: Account,
  completeCopy: (copy: string) => void,
): Promise<void> {
  await removeAbandonedCopies(place)
  const partial = await mkdtemp(join(place, PARTIAL))
  await openToAll(partial)
  try {
    const copy = join(partial, 'native')
    await copyReadableByAll(native, copy)
    completeCopy(copy)
    // Test it before use: the place may be mounted noexec.
    const trial = await finished(launcher({ account })(join(copy, 'bin', 'postgres'), ['--version']))
    if (trial.code !== 0) throw new Error(trial.complaint)
    // The rename is the commit; a copy that another start made meanwhile is as good.
    await rename(copy, home).catch(unlessCode('EEXIST', 'ENOTEMPTY'))
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

async function copyReadableByAll(from: string, to: string): Promise<void> {
  await mkdir(to)
  await openToAll(to)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyReadableByAll(source, target)
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target)
    else await copyFileDurably(source, target)
  }
}

// Set explicitly, because the umask may be 077.
async function openToAll(folder: string): Promise<void> {
  await chmod(folder, 0o755)
}

async function copyFileDurably(source: string, target: string): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_EXCL)
  const file = await open(target, 'r')
  try {
    await file.chmod((await file.stat()).mode & 0o100 ? 0o755 : 0o644)
    // A power cut after the rename must not leave empty files under the trusted name.
    await file.sync()
  } finally {
    await file.close()
  }
}

async function removeAbandonedCopies(place: string): Promise<void> {
  const anHourAgo = Date.now() - 3_600_000
  for (const name of await readdir(place)) {
    const path = join(place, name)
    if (!name.startsWith(PARTIAL) || (await stat(path)).mtimeMs > anHourAgo) continue
    await rm(path, { recursive: true, force: true })
  }
}

function unlessCode(...codes: string[]): (error: NodeJS.ErrnoException) => void {
  return (error) => {
    if (!codes.includes(error.code ?? '')) throw error
  }
}
