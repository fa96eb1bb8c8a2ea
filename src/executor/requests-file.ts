import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { HolderRequest, MessageToHolder } from '../kinds/replies.ts'

/** What people say to it is a request, too. */
/** Nine tenths of a budget that covers the run are used. */
interface BudgetWarning {
  type: 'budget_warning'
  since: string
  scope: string
  scopeId: string | null
}

type Left = { warnedAt: string | null; scope: string; scopeId: string | null } | null

/** Asks a program to come to an end, while the budget is as it was when it was warned of. */
export const warningOf = (left: Left): BudgetWarning[] =>
  left === null || left.warnedAt === null
    ? []
    : [{ type: 'budget_warning', since: left.warnedAt, scope: left.scope, scopeId: left.scopeId }]

export type RequestToProgram = HolderRequest | ({ type: 'message' } & MessageToHolder) | BudgetWarning

/**
 * The requests to an agent while it works, as a JSON list in a file that its program may read. By then the program has read
 * its stdin, and a signal it does not handle would end it; a file can be ignored.
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

  /** Atomic: a reader sees either the old list or the new one. */
  async write(requests: readonly RequestToProgram[]): Promise<void> {
    const draft = `${this.path}.new`
    await writeFile(draft, `${JSON.stringify(requests)}\n`, { mode: 0o600 })
    await rename(draft, this.path)
  }

  async remove(): Promise<void> {
    await rm(dirname(this.path), { recursive: true, force: true }).catch(() => undefined)
  }
}
