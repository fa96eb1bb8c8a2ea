import { Refused } from '../pure/errors.ts'
import { idCarriedBy } from '../pure/ids.ts'

/** Query values are text; these read them. */

export const numberIn = (text: string | undefined) => (text === undefined ? undefined : Number(text))

/** The inside id that a list is filtered by. Nothing has the id 0: a foreign id finds nothing. */
export const wantedId = (uuid: string | undefined) =>
  uuid === undefined ? undefined : (idCarriedBy(uuid) ?? 0)

/** The fields that the request includes. */
export function included<N extends string>(text: string | undefined, ...names: N[]): ReadonlySet<N> {
  const asked = text?.split(',') ?? []
  const unknown = asked.find((name) => !(names as string[]).includes(name))
  if (unknown !== undefined)
    throw Refused.field(
      'VALIDATION_FAILED',
      'include',
      `has an unknown field: "${unknown}" (use ${names.join(', ')})`,
    )
  return new Set(asked as N[])
}

/** A period of time, in milliseconds since 1970; null: that side is open. */
interface Period {
  from: number | null
  to: number | null
}

export function periodIn({ from, to }: { from?: string | undefined; to?: string | undefined }): Period {
  const [began, ended] = [from, to].map((text) => (text === undefined ? null : Date.parse(text)))
  if (began != null && ended != null && began >= ended)
    throw Refused.field('VALIDATION_FAILED', 'to', 'must be later than "from"')
  return { from: began ?? null, to: ended ?? null }
}
