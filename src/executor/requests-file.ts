import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HolderRequest } from '../core/replies.ts'

/**
 * What is asked of an agent while it works, as a JSON list in a file that its program may look at. Programs have read their
 * stdin by then, and a signal they do not know of would end them; a file can be ignored.
 */
export class RequestsFile {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  static async make(): Promise<RequestsFile> {
    const file = new RequestsFile(join(await mkdtemp(join(tmpdir(), 'baton-requests-')), 'requests.json'))
    await file.write([])
    return file
  }

  /** Whoever reads it sees the whole list: the one before, or this one. */
  async write(requests: readonly HolderRequest[]): Promise<void> {
    const draft = `${this.path}.new`
    await writeFile(draft, `${JSON.stringify(requests)}\n`, { mode: 0o600 })
    await rename(draft, this.path)
  }

  async remove(): Promise<void> {
    await rm(dirname(this.path), { recursive: true, force: true }).catch(() => undefined)
  }
}
