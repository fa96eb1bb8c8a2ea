import { z } from 'zod'
import type { Run } from '../kinds/run/record.ts'

const Recorded = z.object({ worktree: z.object({ root: z.string() }).nullable() })

/** The worktree that only runs of this run's claim work in, from the row of the run. Null: its folder may have other users. */
export function ownFolderOf({ innerTaskId, folder }: Pick<Run, 'innerTaskId' | 'folder'>): string | null {
  const recorded = Recorded.safeParse(folder)
  return innerTaskId !== null && recorded.success ? (recorded.data.worktree?.root ?? null) : null
}
