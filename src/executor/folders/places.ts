import { hash } from 'node:crypto'
import { access, constants, mkdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { FolderRefused } from './refused.ts'

/** Paths of folders, and whether an agent may work there. */

const FITS = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/

/** The branch of a task's generation. */
export const branchOf = (taskUuid: string, generation: number) =>
  `baton/${nameFor(taskUuid)}/gen-${generation}`

/** An id as the name of a folder and part of a branch: unchanged if possible, else cleaned and made unique by a hash. */
export function nameFor(id: string): string {
  if (FITS.test(id)) return id
  const like = id.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^[-_]+/, '')
  const mark = hash('sha256', id, 'hex').slice(0, 8)
  return `${like.slice(0, 60)}-${mark}`.replace(/^-/, '')
}

/** Whether a path is that folder or inside it. Both must be real paths: no links, no dots. */
export const isWithin = (path: string, folder: string) =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

/** Whether a folder is there and can be looked at: whatever the reason, nothing can be read in any other. */
export const isFolder = async (path: string) => (await stat(path).catch(() => null))?.isDirectory() ?? false

interface Places {
  /** Relative paths are resolved against this. */
  defaultRoot: string
  dataFolder: string
  allowedRoots: readonly string[]
}

/** The real path of the folder in an agent's settings. */
export async function namedFolder(
  cwd: string,
  { defaultRoot, dataFolder, allowedRoots }: Places,
): Promise<string> {
  if (cwd.trim() === '' || cwd.includes('\0')) throw new FolderRefused('The cwd of the agent is not a path.')
  const path = resolve(defaultRoot, cwd)
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    throw new FolderRefused(whyNot(path, error))
  })
  if (!(await stat(real)).isDirectory()) throw new FolderRefused(`${path} is a file, not a folder.`)
  if (isWithin(real, await realDataFolder(dataFolder)))
    throw new FolderRefused(`${path} is in the data folder, which is reserved for Baton.`)
  await mustBeAllowed(path, real, allowedRoots)
  await access(real, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new FolderRefused(`Baton cannot read and write the folder ${path}.`)
  })
  return real
}

/** Whether a folder, which may not exist, is the data folder or inside it once links are resolved. */
export async function isInDataFolder(cwd: string, dataFolder: string, defaultRoot: string): Promise<boolean> {
  const data = await realDataFolder(dataFolder)
  let missing = ''
  for (let path = resolve(defaultRoot, cwd); ; path = dirname(path)) {
    const real = await realpath(path).catch(() => null)
    if (real !== null) return isWithin(join(real, missing), data)
    if (path === dirname(path)) return false
    missing = join(basename(path), missing)
  }
}

function whyNot(path: string, { code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      return `The folder ${path} does not exist.`
    case 'ENOTDIR':
      return `A part of the path ${path} is a file.`
    case 'ELOOP':
      return `${path} is a circular link.`
    case 'EACCES':
      return `Baton has no permission to enter ${path}.`
    default:
      return `The folder ${path} cannot be used: ${message}.`
  }
}

/** Links are resolved first: what counts is where the agent would write. */
export async function mustBeAllowed(
  path: string,
  real: string,
  allowedRoots: readonly string[],
): Promise<void> {
  if (allowedRoots.length === 0) return
  const roots = await Promise.all(allowedRoots.map((root) => realpath(root).catch(() => null)))
  if (roots.some((root) => root !== null && isWithin(real, root))) return
  const leads = real === path ? 'is' : `resolves to ${real}, which is`
  throw new FolderRefused(`${path} ${leads} outside the folders in which agents may work.`)
}

/** A folder below Baton's data folder, created if necessary. A link in its place is refused, so it cannot lead out. */
export async function ownFolder(dataFolder: string, ...names: readonly string[]): Promise<string> {
  const data = await realDataFolder(dataFolder)
  const path = join(data, ...names)
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new FolderRefused(`The folder ${path} cannot be created: ${error.message}.`)
  })
  if ((await realpath(path)) !== path)
    throw new FolderRefused(`The folder ${path} is a link to another place.`)
  return path
}

/** The folder of an agent without a cwd. */
export const folderOfAgent = (dataFolder: string, workspaceId: number | string, slug: string) =>
  ownFolder(dataFolder, 'folders', nameFor(String(workspaceId)), nameFor(slug))

export async function realDataFolder(dataFolder: string): Promise<string> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  return realpath(dataFolder)
}

/**
 * Null if the file does not exist. Any other error is thrown: a machine short of file handles must not look like an empty
 * folder, or work would be deleted as if it had never been done.
 */
export const unlessMissing = <T>(reading: Promise<T>): Promise<T | null> =>
  reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })

/** Relative paths start from the folder that contains the data folder: by default the one Baton was started in. */
export const rootBeside = (dataFolder: string) => dirname(resolve(dataFolder))
