import { constants, lstatSync } from 'node:fs'
import { access, chmod, lchown, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StartRefused } from '../pure/refusal.ts'
import type { Account } from './account.ts'

/** Creates the folder if necessary, and returns its real path. */
export async function openDataFolder(folder: string, account: Account | undefined): Promise<string> {
  try {
    // The password and the cluster inside are closed to others, but the account of the server has to pass through.
    await mkdir(folder, { recursive: true, mode: account ? 0o711 : 0o700 })
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return await realpath(folder)
  } catch (error) {
    throw new StartRefused(whyNotUsable(folder, error as Error))
  }
}

/** Explains a failed file operation in the folder to the person who chose the folder. */
export function whyNotUsable(folder: string, error: NodeJS.ErrnoException): string {
  const remedy = 'choose another folder with BATON_DATA'
  switch (error.code) {
    case 'EEXIST':
    case 'ENOTDIR':
      return `The data folder ${folder} cannot be created, because a file has its name: remove the file, or ${remedy}.`
    case 'EACCES':
    case 'EPERM':
      return `The data folder ${folder} cannot be written by this user: change its owner or mode, or ${remedy}.`
    case 'ENOENT':
    case 'EROFS':
      // Creating nested folders on a read-only file system fails with ENOENT.
      return `The data folder ${folder} cannot be created there; the file system may be read-only: ${remedy}.`
    default:
      return `The data folder ${folder} cannot be used (${error.message}): ${remedy}.`
  }
}

/** Refuses a cluster that this Postgres or this user cannot open, before anything is changed. */
export async function refuseForeignCluster(
  cluster: string,
  major: string,
  account: Account | undefined,
): Promise<void> {
  const stats = lstatSync(cluster, { throwIfNoEntry: false })
  if (!stats) return
  if (!account && stats.uid !== process.geteuid?.()) {
    throw new StartRefused(
      `The database in ${cluster} belongs to another user (id ${stats.uid}): start Baton as that user or as root, or change the owner of the whole folder.`,
    )
  }
  const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '')).trim()
  if (version === '') {
    throw new StartRefused(
      `${cluster} exists but contains no Postgres database: move it away, or restore it.`,
    )
  }
  if (version !== major) {
    throw new StartRefused(
      `The database in ${cluster} was created by Postgres ${version}, but this Baton runs Postgres ${major}: start it with the Baton version that created it, or choose another folder with BATON_DATA.`,
    )
  }
}

/** Copying a data folder changes owners and modes, but Postgres opens only a folder that it owns, with mode 0700. */
export async function makeClusterOwn(cluster: string, account: Account | undefined): Promise<void> {
  const { uid, mode } = await stat(cluster)
  if ((mode & 0o777) !== 0o700) await chmod(cluster, 0o700)
  if (account && uid !== account.uid) await chownTree(cluster, account)
}

async function chownTree(path: string, account: Account): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const child = join(path, entry.name)
    if (entry.isDirectory()) await chownTree(child, account)
    else await lchown(child, account.uid, account.gid)
  }
  // The folder last: its wrong owner shows the next start that an interrupted walk is unfinished.
  await lchown(path, account.uid, account.gid)
}
