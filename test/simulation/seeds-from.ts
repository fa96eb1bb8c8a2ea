/**
 * All seeds up to `last`, beginning where a planted bug is known to show. When a change of the rules or of the simulation
 * moves it, it is still found, only later: the test prints the seed.
 */
export function* seedsFrom(first: number, last: number): Generator<number> {
  for (let seed = first; seed <= last; seed++) yield seed
  for (let seed = 1; seed < first; seed++) yield seed
}

/** For those that do not show within the first ten seeds. */
export type ShowsAt<Bug extends string> = Readonly<Partial<Record<Bug, number>>>
