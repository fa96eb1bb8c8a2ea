/**
 * A contractor is an agent that is made from another one, its template, for a mission. It works on the tasks that are reserved
 * for it and on nothing else, and it is terminated when the mission has ended.
 */

/** How many a mission may have, over its whole life. */
export const MOST_CONTRACTORS = 20

const LONGEST_SLUG = 100
const BEFORE_FINGERPRINT = '@mission-'
const FINGERPRINT_LENGTH = 12
const FORM = new RegExp(`${BEFORE_FINGERPRINT}[0-9a-f]{${FINGERPRINT_LENGTH}}$`)

/** A hexadecimal digest of mission, template and name makes the slug stable, and another one for each of them. */
export function contractorSlug(template: string, digest: string): string {
  const end = `${BEFORE_FINGERPRINT}${digest.slice(0, FINGERPRINT_LENGTH)}`
  return template.slice(0, LONGEST_SLUG - end.length) + end
}

/** Slugs of this form are for contractors alone: nobody can register under one, so claims know a contractor by its slug. */
export const isContractorSlug = (slug: string): boolean => FORM.test(slug)

/** An agent to be made from another one, for a mission; an existing one stays as it is. */
export interface NewContractor {
  slug: string
  uuid: string
  template: string
  /** Null: the same as its template. */
  name: string | null
  missionId: number
  mission: string
}
