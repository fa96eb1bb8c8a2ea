/** The first of dev-1, dev-2, … that no agent has. */
export function freeSlug(taken: readonly string[]): string {
  const known = new Set(taken)
  let number = 1
  while (known.has(`dev-${number}`)) number += 1
  return `dev-${number}`
}
