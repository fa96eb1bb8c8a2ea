import type { RunFolder } from '../../kinds/run/shapes/folder.ts'

/** What the prompt of an agent says about its worktree, whatever its template says. */

const ASK_FOR_COMMITS = `Commit your work in this folder with git, in small commits with clear messages, and leave nothing uncommitted at the end: what is reviewed and handed on is the last commit. You are asked for these commits; no further permission is needed. Stay on the branch you are on, and do not push.`

const FINISH = (kind: string) =>
  `An unfinished ${kind.replace('_', '-')} of the last attempt is in this folder. Finish it, or undo it, before you end.`

/** Empty: the run is not in a worktree, or does other work than its own. */
export function workAsText(folder: RunFolder | null, agent: string, unfinished: string | null): string {
  if (!folder?.worktree) return ''
  const { worktree, continues, missing } = folder
  const lines = [`## Your folder`, '', `You are in a git worktree on branch ${worktree.branch}.`]
  if (continues) {
    const by = continues.agent === agent ? 'an earlier attempt of yours' : `${continues.agent}`
    lines.push(
      `It contains the work of ${by} on this task, up to commit ${continues.commit.slice(0, 12)}: see it with \`git log ${worktree.baseCommit.slice(0, 12)}..\` and \`git diff ${worktree.baseCommit.slice(0, 12)}\`. Continue from there.`,
    )
  }
  if (missing) lines.push(missing)
  if (unfinished) lines.push(FINISH(unfinished))
  return `\n\n${[...lines, ASK_FOR_COMMITS].join('\n')}\n`
}
