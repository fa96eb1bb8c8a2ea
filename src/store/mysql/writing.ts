import type { Changes, View } from '../../core/batch/requests.ts'

/** What is to be written, and what was read before. */
export interface Writing {
  isMariadb: boolean
  workspaceId: number
  view: View
  changes: Changes
}
