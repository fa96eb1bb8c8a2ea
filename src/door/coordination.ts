import type { AnswerOf } from '../pure/shapes.ts'
import type * as shapes from '../views/coordinator/shapes.ts'

/** The coordinator as the API sees it. */

/** How many records each step of a pass handled. */
export type PassReport = AnswerOf<typeof shapes.PassReport>

export interface CoordinatorState {
  nodeId: string
  /** The term this node coordinates under; null: another node does, or none. */
  term: number | null
  passes: number
  lastPassAt: number | null
  lastPassMs: number | null
  /** When the database became unreachable; null: it is reachable. */
  awaySince: number | null
}

export interface Coordination {
  state(): CoordinatorState
  /** Runs all steps now, whichever node leads, at the request of a person; null: in all workspaces. */
  recover(workspaceId: number | null): Promise<PassReport>
}
