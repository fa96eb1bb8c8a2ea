/** What is asked for with a claim. */
export interface ClaimRequest {
  agent: string
  session: string
  leaseMs: number
  capabilities: readonly string[]
  /** Assigned by the coordinator, not requested: it must be started in time. */
  byCoordinator?: boolean | undefined
  /** No lease was asked for: it is as long as the task should take, if that is longer. */
  fitsEstimate?: boolean | undefined
  /** What the holder says about itself, for people who look at the claim. */
  metadata?: ClaimMetadata | undefined
}

export type ClaimMetadata = Readonly<Record<string, unknown>>

/** The holder of a past generation. */
export interface PastHolder {
  session: string
  agent: string | null
  acquiredAt: number | null
}
