import { createReadStream } from 'node:fs'
import { lookAt } from './secret-search.ts'
import { placeOf } from './worktree-git.ts'

/** Finds the lines that git writes into a file with a conflict. */

const MARKERS = ['<<<<<<< ', '=======', '>>>>>>> ']

/** Takes a text in pieces, and says whether all three kinds of lines have come, in their order. */
export class MarkerSearch {
  #found = 0
  /** The begin of the current line; null: it is known to be another one. */
  #line: string | null = ''

  get isFound(): boolean {
    return this.#found === MARKERS.length
  }

  take(piece: Buffer): void {
    const lines = piece.toString('latin1').split('\n')
    for (const [i, text] of lines.entries()) {
      if (i > 0) this.#line = ''
      if (this.#line === null || this.isFound) continue
      const line: string = this.#line + text.slice(0, 8)
      const marker = MARKERS[this.#found]!
      const isEnded = i < lines.length - 1
      if (line.startsWith(marker)) this.#found++
      this.#line = line.startsWith(marker) || line.length >= marker.length || isEnded ? null : line
    }
  }
}

/** Of a file in a folder; links are not followed. */
export async function hasMarkersInFile(root: string, path: string): Promise<boolean> {
  if ((await lookAt(root, path)).kind !== 'file') return false
  const search = new MarkerSearch()
  for await (const piece of createReadStream(placeOf(root, path))) {
    search.take(piece as Buffer)
    if (search.isFound) return true
  }
  return false
}
