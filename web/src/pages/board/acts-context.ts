import { createContext, useContext } from 'react'
import type { Act } from '../../../../src/kinds/task/rules/allowed-acts.ts'
import type { Asked } from '../../requests/acts.ts'

/** Acts that the board offers, by key, menu, bar and drop. */
export type BoardAct =
  | Extract<
      Act,
      | 'pause'
      | 'resume'
      | 'cancel'
      | 'retry'
      | 'reset'
      | 'archive'
      | 'approve'
      | 'reject'
      | 'priority'
      | 'agent'
      | 'type'
      | 'tags'
    >
  | 'again'

export interface BoardActs {
  /** Does it, or asks first where it cannot be undone or needs more input. */
  begin: (act: BoardAct, ids: readonly string[]) => void
  run: (asked: Asked, ids: readonly string[]) => void
  /** Why nothing can be done here. */
  forbidden: string | null
}

export const ActsContext = createContext<BoardActs | null>(null)

export function useBoardActs(): BoardActs {
  const acts = useContext(ActsContext)
  if (!acts) throw new Error('Acts are used outside of a board.')
  return acts
}
