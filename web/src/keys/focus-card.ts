export const elementOfCard = (id: string) =>
  document.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`)

/** A card that was scrolled to is drawn some frames later. */
export function focusCard(id: string, frames = 3): void {
  const link = elementOfCard(id)?.querySelector('a')
  if (link) link.focus({ preventScroll: true })
  else if (frames > 0) requestAnimationFrame(() => focusCard(id, frames - 1))
}
