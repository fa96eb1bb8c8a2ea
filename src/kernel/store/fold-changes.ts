import type { ClaimEnded, ClaimOpened, DetailsChanged } from '../../kinds/task/record.ts'
import type { ResultJudged, ResultPromoted, ResultWritten } from '../../kinds/task/rules/result-changes.ts'
import { type Changes, dependencyName } from '../batch/requests.ts'

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

export interface FoldedResults {
  /** Written in this batch, and accepted or awaiting a verdict at its end. */
  readonly standing: readonly ResultWritten[]
  /** Written in this batch and rejected at its end. */
  readonly rejected: readonly ResultWritten[]
  /** Verdicts on results that were written before this batch. */
  readonly judged: readonly ResultJudged[]
  readonly promoted: readonly ResultPromoted[]
}

/** A result that was written and judged within one batch is written once, as judged. */
export function foldResults({ results }: Pick<Changes, 'results'>): FoldedResults {
  const standing = new Map<string, ResultWritten>()
  const rejected: ResultWritten[] = []
  const judged: ResultJudged[] = []
  const promoted: ResultPromoted[] = []
  for (const result of results) {
    if (result.kind === 'promoted') {
      promoted.push(result)
      continue
    }
    // In each epoch at most one result stands.
    const name = `${result.taskId}/${result.epoch}`
    if (result.kind === 'judged') {
      const { accepted, rejection } = result
      const pending = standing.get(name)
      if (!pending) judged.push(result)
      else if (accepted) standing.set(name, { ...pending, accepted })
      else {
        standing.delete(name)
        rejected.push({ ...pending, accepted, rejection })
      }
    } else if (result.accepted === false) rejected.push(result)
    else standing.set(name, result)
  }
  const stands = ({ taskId, generation, session, hash }: ResultWritten) =>
    `${taskId}/${generation}/${hash}/${session}`
  // Rejected first and accepted then: it is one result.
  const names = new Set(rejected.length === 0 ? [] : [...standing.values()].map(stands))
  return {
    standing: [...standing.values()],
    rejected: rejected.filter((result) => !names.has(stands(result))),
    judged,
    promoted,
  }
}

/** The last count of each dependency that stays. */
export function foldRecounted({
  recounted,
  removed,
}: Pick<Changes, 'recounted' | 'removed'>): Changes['recounted'] {
  if (removed.length > 0 && recounted.length > 0) {
    const gone = new Set(removed.map((one) => dependencyName(one.taskId, one.dependsOn)))
    return foldRecounted({
      recounted: recounted.filter((one) => !gone.has(dependencyName(one.taskId, one.dependsOn))),
      removed: [],
    })
  }
  if (recounted.length < 2) return recounted
  return [...new Map(recounted.map((one) => [dependencyName(one.taskId, one.dependsOn), one])).values()]
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
