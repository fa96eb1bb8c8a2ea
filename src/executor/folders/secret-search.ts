import { constants } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import type { KnownSecrets } from '../../pure/secrets/redaction.ts'
import { placeOf } from './worktree-git.ts'

/** Searches files for known secrets, a piece at a time: a secret across the border of two pieces is found too. */

const PIECE_BYTES = 64 * 1024
const AT_A_TIME = 8

export type FileLook =
  | { kind: 'missing' | 'folder' | 'special_file' | 'unreadable' }
  | { kind: 'link' }
  | { kind: 'file'; bytes: number }

/** Links are not followed. */
export async function lookAt(root: string, path: string): Promise<FileLook> {
  try {
    const found = await lstat(placeOf(root, path))
    if (found.isSymbolicLink()) return { kind: 'link' }
    if (found.isDirectory()) return { kind: 'folder' }
    return found.isFile() ? { kind: 'file', bytes: found.size } : { kind: 'special_file' }
  } catch (error) {
    return { kind: isMissing(error) ? 'missing' : 'unreadable' }
  }
}

const isMissing = (error: unknown) =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

export type Searched = 'clean' | 'secret' | 'unreadable' | 'missing'

/** Also finds out whether the file can be read at all. */
export async function searchFile(
  root: string,
  path: string,
  look: FileLook,
  secrets: KnownSecrets,
): Promise<Searched> {
  const place = placeOf(root, path)
  try {
    if (look.kind === 'link')
      return isIn(secrets, new Search(secrets), await readlink(place)) ? 'secret' : 'clean'
    const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (secrets.isEmpty) return 'clean'
      const search = new Search(secrets)
      const decoder = new TextDecoder()
      const piece = Buffer.allocUnsafe(PIECE_BYTES)
      for (;;) {
        const { bytesRead } = await file.read(piece, 0, PIECE_BYTES)
        if (bytesRead === 0) return 'clean'
        if (search.finds(decoder.decode(piece.subarray(0, bytesRead), { stream: true }))) return 'secret'
      }
    } finally {
      await file.close()
    }
  } catch (error) {
    return isMissing(error) ? 'missing' : 'unreadable'
  }
}

const isIn = (secrets: KnownSecrets, search: Search, text: string) => !secrets.isEmpty && search.finds(text)

export const containsSecret = (secrets: KnownSecrets, text: string) =>
  isIn(secrets, new Search(secrets), text)

class Search {
  readonly #automaton: KnownSecrets['automaton']
  #state = 0

  constructor({ automaton }: KnownSecrets) {
    this.#automaton = automaton
  }

  finds(text: string): boolean {
    const { fromStart, longest } = this.#automaton
    let state = this.#state
    for (let i = 0; i < text.length; i++) {
      const character = text.charCodeAt(i)
      state = state === 0 ? fromStart[character]! : this.#automaton.step(state, character)
      if (longest[state]! !== 0) return true
    }
    this.#state = state
    return false
  }
}

/** Calls `act` for each item, a few at a time. */
export async function forEachOf<T>(items: Iterable<T>, act: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) await act(next.value)
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, worker))
}
