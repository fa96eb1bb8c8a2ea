import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter'
import type { ShownCard } from '../../live/pending-acts.ts'
import type { Desk } from './desk.ts'
import { dropsFor } from './drops.ts'

/** Drags of cards. A drop target reads from the desk what is dragged. */

export function draggableCard(
  element: HTMLElement,
  cardOf: () => ShownCard | undefined,
  desk: Desk,
): () => void {
  return draggable({
    element,
    canDrag: () => {
      const card = cardOf()
      return card !== undefined && card.pending === undefined
    },
    onDragStart: () => {
      const card = cardOf()
      if (card) desk.set({ dragged: { card, drops: dropsFor(card) } })
    },
    // The card gets the drop before its target, which still reads what is dragged.
    onDrop: () => queueMicrotask(() => desk.set({ dragged: null })),
  })
}

/** `over`: the pointer's height on the screen while something that may be dropped is over it, else null. */
export function dropPlace(
  element: HTMLElement,
  on: { canDrop: () => boolean; over: (clientY: number | null) => void; drop: (clientY: number) => void },
): () => void {
  return dropTargetForElements({
    element,
    canDrop: on.canDrop,
    onDrag: ({ location }) => on.over(location.current.input.clientY),
    onDragLeave: () => on.over(null),
    onDrop: ({ location }) => {
      on.over(null)
      on.drop(location.current.input.clientY)
    },
  })
}
