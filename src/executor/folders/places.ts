import { hash } from 'node:crypto'
import { access, constants, mkdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { FolderRefused } from './refused.ts'

/** Where folders are, and whether an agent may work there. */

const FITS = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/

/** An id as the name of a folder and a part of a branch: as it is when it can be, else with a mark by which it is the only one. */
export function nameFor(id: string): string {
  if (FITS.test(id)) return id
  const like = id.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^[-_]+/, '')
  const mark = hash('sha256', id, 'hex').slice(0, 8)
  return `${like.slice(0, 60)}-${mark}`.replace(/^-/, '')
}

/** Whether a path is that folder or in it. Both must be real: no links, no dots. */
export const isWithin = (path: string, folder: string) =>
  path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)

interface Places {
  /** Against which a relative path is meant. */
  defaultRoot: string
  dataFolder: string
  allowedRoots: readonly string[]
}

/** The folder somebody named, as it really is. */
export async function namedFolder(
  cwd: string,
  { defaultRoot, dataFolder, allowedRoots }: Places,
): Promise<string> {
  if (cwd.trim() === '' || cwd.includes('\0')) throw new FolderRefused('The cwd of the agent is no path.')
  const path = resolve(defaultRoot, cwd)
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    throw new FolderRefused(whyNot(path, error))
  })
  if (!(await stat(real)).isDirectory()) throw new FolderRefused(`${path} is a file, not a folder.`)
  if (isWithin(real, await realDataFolder(dataFolder)))
    throw new FolderRefused(`${path} is in the data folder, which is Baton's own.`)
  await mustBeAllowed(path, real, allowedRoots)
  await access(real, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new FolderRefused(`The folder ${path} cannot be read and written by Baton.`)
  })
  return real
}

/** Whether a folder, there or not, is the data folder or in it, wherever links lead. */
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
      return `The folder ${path} is not there.`
    case 'ENOTDIR':
      return `${path} leads through a file.`
    case 'ELOOP':
      return `${path} is a link that leads to itself.`
    case 'EACCES':
      return `Baton may not enter ${path}.`
    default:
      return `The folder ${path} cannot be used: ${message}.`
  }
}

/** Links are followed first: what counts is where the agent would write. */
export async function mustBeAllowed(
  path: string,
  real: string,
  allowedRoots: readonly string[],
): Promise<void> {
  if (allowedRoots.length === 0) return
  const roots = await Promise.all(allowedRoots.map((root) => realpath(root).catch(() => null)))
  if (roots.some((root) => root !== null && isWithin(real, root))) return
  const leads = real === path ? 'is' : `leads to ${real}, which is`
  throw new FolderRefused(`${path} ${leads} outside of the folders in which agents may work.`)
}

/** A folder of Baton's own below its data, made if need be. Whoever put a link in its place does not get out by it. */
export async function ownFolder(dataFolder: string, ...names: readonly string[]): Promise<string> {
  const data = await realDataFolder(dataFolder)
  const path = join(data, ...names)
  await mkdir(path, { recursive: true, mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    throw new FolderRefused(`The folder ${path} cannot be made: ${error.message}.`)
  })
  if ((await realpath(path)) !== path) throw new FolderRefused(`The folder ${path} is a link to elsewhere.`)
  return path
}

export async function realDataFolder(dataFolder: string): Promise<string> {
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  return realpath(dataFolder)
}

/**
 * Null for what is not there. Any other failure is one: a machine short of file handles must not look like an empty folder, or
 * work would be swept away as if it had never been done.
 */
export const unlessMissing = <T>(looking: Promise<T>): Promise<T | null> =>
  looking.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
    throw error
  })

/** What is relative is meant from where the data folder stands, which is where Baton was started unless told otherwise. */
export const rootBeside = (dataFolder: string) => dirname(resolve(dataFolder))
