import { lstat, readdir } from 'node:fs/promises'
import type { Traces } from '../cli-lines.ts'

/** Where programs keep the files of their sessions. */

export interface Place {
  /** The folder in which its program keeps what it stores. */
  home: string
  cwd: string
}

/** The files of a session, as far as they can be found by now. It does not throw. */
export type FindFiles = (traces: Traces) => Promise<readonly string[]>

const MOST_NAMES = 20_000

/** An id that is the name of a file, and no path. */
export const isFileName = (id: string | null): id is string =>
  id !== null && /^[A-Za-z0-9_-]{1,100}$/.test(id)

export const namesIn = (folder: string): Promise<string[]> =>
  readdir(folder).then(
    (names) => names.slice(0, MOST_NAMES),
    () => [],
  )

export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/** Where a search through all folders is needed, it is not made with every look. */
export const SEARCHED_EACH = 10

/** The first that is found stays. */
export function found<T>(search: (isThorough: boolean) => Promise<T | null>): () => Promise<T | null> {
  let known: T | null = null
  let looks = 0
  return async () => {
    known ??= await search(looks++ % SEARCHED_EACH === 0)
    return known
  }
}
