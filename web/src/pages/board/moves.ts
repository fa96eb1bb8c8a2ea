import { createContext, useContext } from 'react'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'

/** A card that moves to another column travels there above both, since each column cuts off what leaves it. */

const MOVE_MS = 240
const MOST_PER_SECOND = 20

export class Moves {
  readonly #left = new Map<string, { column: BoardColumn; from: DOMRect }>()
  #recent: number[] = []

  /** Before its element is taken away. */
  left(id: string, column: BoardColumn, element: HTMLElement): void {
    if (this.#left.size === 0) queueMicrotask(() => this.#left.clear())
    this.#left.set(id, { column, from: element.getBoundingClientRect() })
  }

  /** In the same drawing, its element is in another column. */
  arrived(id: string, column: BoardColumn, element: HTMLElement): void {
    const move = this.#left.get(id)
    if (!move || move.column === column || !this.#mayMove()) return
    this.#left.delete(id)
    travel(element, move.from)
  }

  #mayMove(): boolean {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return false
    const now = performance.now()
    this.#recent = [...this.#recent.filter((at) => now - at < 1_000), now]
    return this.#recent.length <= MOST_PER_SECOND
  }
}

function travel(element: HTMLElement, from: DOMRect): void {
  const to = element.getBoundingClientRect()
  if (to.width === 0 || to.bottom < 0 || to.top > innerHeight) return
  const traveller = element.cloneNode(true) as HTMLElement
  // The copy is only visible: no query finds it twice.
  traveller.removeAttribute('data-card')
  traveller.inert = true
  Object.assign(traveller.style, {
    position: 'fixed',
    left: `${to.left}px`,
    top: `${to.top}px`,
    width: `${to.width}px`,
    height: `${to.height}px`,
    zIndex: '30',
    pointerEvents: 'none',
  })
  document.body.append(traveller)
  // Invisible, but still in the page: it may have the focus.
  element.style.opacity = '0'
  const way = `translate(${from.left - to.left}px, ${from.top - to.top}px)`
  const timing = { duration: MOVE_MS, easing: 'cubic-bezier(.2, 0, 0, 1)' }
  traveller.animate([{ transform: way }, { transform: 'none' }], timing).onfinish = () => {
    traveller.remove()
    element.style.opacity = ''
  }
}

export const MovesContext = createContext<Moves | null>(null)

export function useMoves(): Moves {
  const moves = useContext(MovesContext)
  if (!moves) throw new Error('A card is drawn outside of a board.')
  return moves
}
