/**
 * The lease of a holder whose task has an estimate: as long as the work should take, so that it is renewed seldom. Never
 * shorter than it would be, never longer than the workspace allows.
 */
export const fittedLeaseMs = (leaseMs: number, estimateMs: number | undefined, maxLeaseMs: number): number =>
  Math.max(leaseMs, Math.min(estimateMs ?? 0, maxLeaseMs))
