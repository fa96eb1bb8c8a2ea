import type { Changes } from '../core/batch/requests.ts'
import type { ClaimEnded, ClaimOpened, DetailsChanged } from '../core/records.ts'

/** What a batch does to one row several times is written once. */

export interface FoldedClaims {
  /** Opened in this batch; `end` if the claim also ended in it. */
  readonly opened: readonly { claim: ClaimOpened; end: ClaimEnded | null }[]
  /** Opened before this batch. */
  readonly ended: readonly ClaimEnded[]
}

/** A claim that was granted and ended within one batch is written once, as ended. */
export function foldClaims({ claims }: Pick<Changes, 'claims'>): FoldedClaims {
  const opened = new Map<string, { claim: ClaimOpened; end: ClaimEnded | null }>()
  const ended: ClaimEnded[] = []
  for (const claim of claims) {
    const name = `${claim.taskId}/${claim.generation}`
    if (claim.kind === 'opened') opened.set(name, { claim, end: null })
    else {
      const fresh = opened.get(name)
      if (fresh) fresh.end = claim
      else ended.push(claim)
    }
  }
  return { opened: [...opened.values()], ended }
}

export type DetailsSet = DetailsChanged['set']

/** The last value of each changed field, by task. Fields that are not given stay as they are. */
export function foldDetails({ details }: Pick<Changes, 'details'>): Map<number, DetailsSet> {
  const folded = new Map<number, DetailsSet>()
  for (const { taskId, set } of details) {
    const given = Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined))
    if (Object.keys(given).length > 0) folded.set(taskId, { ...folded.get(taskId), ...given })
  }
  return folded
}
