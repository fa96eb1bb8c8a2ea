/** The name of an agent in addresses. Pure. */

const LONGEST = 100
const FITS = /^[A-Za-z0-9][A-Za-z0-9._@-]*$/

/** The nearest name that can be used; empty: nothing of it can. */
export const correctedSlug = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, LONGEST)
    .replace(/-+$/, '')

/** What is wrong with a name that is written, and the one to use instead. Null: nothing. */
export function slugProblem(text: string): { words: string; offer: string | null } | null {
  const slug = text.trim()
  if (slug === '' || (FITS.test(slug) && slug.length <= LONGEST)) return null
  const corrected = correctedSlug(slug)
  const offer = corrected === '' || corrected === slug ? null : corrected
  if (FITS.test(slug)) return { words: `Use at most ${LONGEST} characters.`, offer }
  return { words: 'Use lowercase letters, digits and dashes.', offer }
}

/** The first of name, name-2, name-3 … that no agent has. */
export function freeNameLike(name: string, taken: readonly string[]): string {
  const known = new Set(taken)
  if (!known.has(name)) return name
  const base = name.replace(/-\d+$/, '')
  for (let number = 2; ; number += 1) {
    const next = `${base}-${number}`
    if (!known.has(next)) return next
  }
}
