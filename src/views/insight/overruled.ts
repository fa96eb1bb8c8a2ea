/** How often people decided otherwise than verifiers. */

/** What a verifier said about the result of a claim. */
export interface Judged {
  seq: number
  task: number
  generation: number | null
  verdict: 'passed' | 'failed' | 'unsure'
}

/** What a person did to a task: approved or rejected its result, replaced it by another one, or had the task done again. */
export interface Decided {
  seq: number
  task: number
  generation: number | null
  decision: 'approved' | 'rejected' | 'replaced' | 'reset'
}

export interface VerdictCounts {
  passed: number
  passedOverruled: number
  failed: number
  failedOverruled: number
  unsure: number
  unsureApproved: number
  unsureRejected: number
}

/** Only what was decided after a verdict, about the same claim, counts; a failed result is replaced by that of another one. */
export function countVerdicts(judged: readonly Judged[], decided: readonly Decided[]): VerdictCounts {
  const ofTask = new Map<number, Decided[]>()
  for (const one of decided) ofTask.set(one.task, [...(ofTask.get(one.task) ?? []), one])
  const follows = (verdict: Judged, decision: Decided['decision'], sameClaim = true) =>
    (ofTask.get(verdict.task) ?? []).some(
      (one) =>
        one.seq > verdict.seq &&
        one.decision === decision &&
        (!sameClaim || one.generation === verdict.generation),
    )
  const of = (verdict: Judged['verdict']) => judged.filter((one) => one.verdict === verdict)
  const [passed, failed, unsure] = [of('passed'), of('failed'), of('unsure')]
  return {
    passed: passed.length,
    passedOverruled: passed.filter((one) => follows(one, 'reset')).length,
    failed: failed.length,
    failedOverruled: failed.filter((one) => follows(one, 'replaced', false)).length,
    unsure: unsure.length,
    unsureApproved: unsure.filter((one) => follows(one, 'approved')).length,
    unsureRejected: unsure.filter((one) => follows(one, 'rejected')).length,
  }
}
