/** What `npm test` tries a few times or with a few samples, and `npm run test:long`, which sets this, with all of them. */
const isLong = process.env.BATON_TEST_ROUNDS === 'many'

/** How often a race or a property is tried. */
export const rounds = (few: number, many: number): number => (isLong ? many : few)

/** Samples of one claim, each of which takes long: so few of them, spread evenly from the first on, or all. */
export function samples<T>(few: number, all: readonly T[]): readonly T[] {
  const part = (i: number) => Math.floor((i * few) / all.length)
  return isLong ? all : all.filter((_, i) => i === 0 || part(i) > part(i - 1))
}
