import type { Changes } from '../../door/execution.ts'
import { type Git, outputOf } from './git.ts'
import { SAFE_FLAGS } from './safe-diff.ts'

export type ChangedFile = Changes['files'][number]

const STATUS: Record<string, ChangedFile['status']> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type_changed',
  U: 'unmerged',
}

/** The files that differ between two commits, or between one and the current files; then also those that git does not track yet. */
export async function changedFiles(
  git: Git,
  folder: string,
  commits: readonly string[],
): Promise<ChangedFile[]> {
  const diff = (form: string) =>
    outputOf(git, folder, ['diff', form, '-z', '--find-renames', ...SAFE_FLAGS, ...commits, '--'])
  const isOfFiles = commits.length === 1
  const [statuses, figures, others] = await Promise.all([
    diff('--name-status'),
    diff('--numstat'),
    isOfFiles ? outputOf(git, folder, ['ls-files', '--others', '--exclude-standard', '-z']) : '',
  ])
  const lines = figuresByPath(figures)
  const tracked = [...changesIn(statuses)].map((change): ChangedFile => {
    const figure = lines.get(change.path) ?? { added: null, deleted: null }
    return {
      ...change,
      ...figure,
      isBinary: figure.added === null && lines.has(change.path),
      isTracked: true,
    }
  })
  const untracked = fieldsOf(others).map(
    (path): ChangedFile => ({
      path,
      oldPath: null,
      status: 'added',
      added: null,
      deleted: null,
      isBinary: false,
      isTracked: false,
    }),
  )
  return [...tracked, ...untracked].sort((a, b) => (a.path < b.path ? -1 : 1))
}

const fieldsOf = (text: string): string[] => text.split('\0').filter((field) => field !== '')

/** `M\0path\0`, and `R100\0old\0new\0`. */
function* changesIn(text: string): Generator<Pick<ChangedFile, 'path' | 'oldPath' | 'status'>> {
  const fields = fieldsOf(text)
  for (let at = 0; at + 1 < fields.length; ) {
    const letter = fields[at]![0]!
    const hasTwo = letter === 'R' || letter === 'C'
    const [first, second] = [fields[at + 1]!, fields[at + 2]]
    const status = STATUS[letter] ?? 'modified'
    yield hasTwo ? { path: second ?? first, oldPath: first, status } : { path: first, oldPath: null, status }
    at += hasTwo ? 3 : 2
  }
}

/** `1\t2\tpath\0`, of renames `1\t2\t\0old\0new\0`; of binary files, `-` for both. */
function figuresByPath(text: string): Map<string, Pick<ChangedFile, 'added' | 'deleted'>> {
  const figures = new Map<string, Pick<ChangedFile, 'added' | 'deleted'>>()
  const fields = text.split('\0')
  for (let at = 0; at < fields.length; at++) {
    const [, added, deleted, path] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(fields[at]!) ?? []
    if (path === undefined) continue
    const isRename = path === ''
    const name = isRename ? fields[at + 2]! : path
    const count = (figure: string | undefined) => (figure === '-' ? null : Number(figure))
    figures.set(name, { added: count(added), deleted: count(deleted) })
    if (isRename) at += 2
  }
  return figures
}
