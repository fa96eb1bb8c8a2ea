import type { Changes, View } from '../../src/kernel/store/portable.ts'

/** The changes to write, and what was read before. */
export interface Writing {
  isMariadb: boolean
  workspaceId: number
  view: View
  changes: Changes
}
