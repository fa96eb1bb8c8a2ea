import { describe, expect, test } from 'vitest'
import { type ShowsAt, seedsFrom } from './seeds-from.ts'

/** Each bug that can be planted is noticed, by an invariant that names it. */

interface Planted {
  readonly foundBy: readonly string[]
}
interface Outcome {
  broken: { invariant: string; detail: string } | null
}

/** A bug that is not noticed within `enough` seeds counts as unnoticed. */
export const describePlantedBugs = <Bugs extends Readonly<Record<string, Planted>>>(
  bugs: Bugs,
  run: (seed: number, options: { bug: keyof Bugs & string }) => Promise<Outcome>,
  enough: number,
  showsAt?: ShowsAt<keyof Bugs & string>,
) =>
  describe('a planted bug is noticed', () => {
    test.each(Object.entries(bugs) as [keyof Bugs & string, Planted][])(
      '%s',
      async (name, { foundBy }) => {
        for (const seed of seedsFrom(showsAt?.[name] ?? 1, enough)) {
          const { broken } = await run(seed, { bug: name })
          if (!broken) continue
          console.log(`${name.padEnd(28)} seed ${String(seed).padStart(3)}  ${broken.invariant}`)
          expect(foundBy, broken.detail).toContain(broken.invariant)
          return
        }
        expect.unreachable(`${name} was not noticed within ${enough} seeds`)
      },
      300_000,
    )
  })
