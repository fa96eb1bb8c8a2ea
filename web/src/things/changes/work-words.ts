import { bytesText, countText } from '../../parts/wording.ts'
import type { Folder } from './use-changes.ts'

/** What became of the work of a run, in words. Pure. */

type Saved = NonNullable<Folder['saved']>
export type LeftOut = Saved['leftOut'][number]
type Figures = NonNullable<Folder['work']>['whole']

/** What is not part of the work, although it was done. */
export interface WorkGaps {
  readonly leftOut: readonly LeftOut[]
  readonly leftOutCount: number
  /** A merge, a rebase. */
  readonly unfinished: string | null
  readonly missing: string | null
  readonly notSaved?: string | null | undefined
}

export const gapsOf = ({ saved, missing, notSaved }: Folder): WorkGaps => ({
  leftOut: saved?.leftOut ?? [],
  leftOutCount: saved?.leftOutCount ?? 0,
  unfinished: saved?.unfinished?.kind ?? null,
  missing: missing ?? null,
  notSaved,
})

/** In one line; null: nothing is missing. Left-out files are named, as far as they fit. */
export function gapsText({ leftOut, leftOutCount, unfinished, missing, notSaved }: WorkGaps): string | null {
  const [first] = leftOut
  const more = leftOutCount - (first?.files ?? 1)
  const parts = [
    notSaved ? `The work could not be saved: ${notSaved}` : null,
    missing ?? null,
    unfinished === null ? null : `The agent did not finish ${unfinishedWords(unfinished)}.`,
    first === undefined
      ? null
      : `Left out of the commit: ${first.path}, ${leftOutWords(first)}${more > 0 ? `; and ${filesText(more)} more` : ''}.`,
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.join(' ')
}

const WHY: Record<LeftOut['why'], string> = {
  too_large: 'too large',
  too_many: 'too many new files',
  too_much: 'too large together',
  secret: 'contains a secret',
  secret_name: 'named like a file with secrets',
  filter: 'needs a git filter that Baton does not run',
  repository: 'a git repository of its own',
  unreadable: 'could not be read',
  special_file: 'neither a file nor a link',
  refused_by_git: 'refused by git',
}

/** "too large (12 MB)". */
export function leftOutWords({ why, bytes, files }: LeftOut): string {
  const size = bytes !== undefined ? bytesText(bytes) : files !== undefined ? filesText(files) : null
  return size === null ? WHY[why] : `${WHY[why]} (${size})`
}

export const filesText = (count: number) => `${countText(count)} ${count === 1 ? 'file' : 'files'}`

const UNFINISHED_WORDS: Record<NonNullable<Saved['unfinished']>['kind'], string> = {
  merge: 'a merge',
  rebase: 'a rebase',
  am: 'a series of patches',
  cherry_pick: 'a cherry-pick',
  revert: 'a revert',
  bisect: 'a bisect',
  conflict: 'files with conflicts',
}

/** The API has it as text there. */
export const unfinishedWords = (kind: string) =>
  Object.hasOwn(UNFINISHED_WORDS, kind) ? UNFINISHED_WORDS[kind as keyof typeof UNFINISHED_WORDS] : kind

/** "2 commits, 3 files, +10 −2". */
export const figuresText = ({ commits, filesChanged, insertions, deletions }: Figures) =>
  `${countText(commits)} ${commits === 1 ? 'commit' : 'commits'}, ${filesText(filesChanged)}, ${linesText(insertions, deletions)}`

export const linesText = (added: number, deleted: number) => `+${countText(added)} −${countText(deleted)}`

/** "attempt 1 of dev, in the same folder". */
export const continuesText = ({ generation, agent, isSameFolder }: NonNullable<Folder['continues']>) =>
  `attempt ${generation} of ${agent}, in ${isSameFolder ? 'the same folder' : 'a new folder'}`

/** A commit as git shortens it. */
export const shortCommit = (commit: string) => commit.slice(0, 10)
