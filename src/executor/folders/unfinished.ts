import { lstat, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './places.ts'

/** An operation of git that waits for somebody to finish it. Its state is in git's record of the worktree. */

export type UnfinishedKind = 'merge' | 'rebase' | 'am' | 'cherry_pick' | 'revert' | 'bisect' | 'conflict'

export interface Operation {
  kind: UnfinishedKind
  /** Where the work was before it began: a commit, or the name of a branch. Null: where HEAD is. */
  original: string | null
  /** What it brings in, as far as git names it. */
  of: string | null
}

const exists = async (path: string) => (await unlessMissing(lstat(path))) !== null
const textIn = async (record: string, name: string) =>
  (await unlessMissing(readFile(join(record, name), 'utf8')))?.trim() || null

/** Null when there is none. A rebase comes first: while it runs, it uses the marks of the others. */
export async function operationIn(record: string): Promise<Operation | null> {
  const has = (name: string) => exists(join(record, name))
  for (const folder of ['rebase-merge', 'rebase-apply']) {
    if (!(await has(folder))) continue
    if (await has(`${folder}/applying`)) return { kind: 'am', original: null, of: null }
    const [original, onto] = [
      await textIn(record, `${folder}/orig-head`),
      await textIn(record, `${folder}/onto`),
    ]
    return { kind: 'rebase', original, of: onto }
  }
  const heads = { merge: 'MERGE_HEAD', cherry_pick: 'CHERRY_PICK_HEAD', revert: 'REVERT_HEAD' } as const
  for (const [kind, name] of Object.entries(heads))
    if (await has(name))
      return { kind: kind as UnfinishedKind, original: null, of: await textIn(record, name) }
  if (await has('sequencer')) {
    const todo = await textIn(record, 'sequencer/todo')
    return { kind: todo?.startsWith('revert') ? 'revert' : 'cherry_pick', original: null, of: null }
  }
  if (await has('BISECT_LOG'))
    return { kind: 'bisect', original: await textIn(record, 'BISECT_START'), of: null }
  return null
}
