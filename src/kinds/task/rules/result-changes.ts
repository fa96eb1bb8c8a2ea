/** What a decision writes of results. */

export interface ResultWritten {
  readonly kind: 'written'
  readonly taskId: number
  readonly epoch: number
  readonly generation: number
  readonly session: string
  readonly agent: string | null
  /** null while a verdict is awaited. */
  readonly accepted: boolean | null
  readonly rejection: string | null
  readonly ref: string
  readonly hash: string
  /** The result as JSON text; not parsed on the way in. */
  readonly data: string
  readonly summary: string | null
  readonly commit?: string | null
  /** From the claim to the submission; null: it is not known when the claim began. */
  readonly processingMs?: number | null
  readonly at: number
}

export interface ResultJudged {
  readonly kind: 'judged'
  readonly taskId: number
  readonly epoch: number
  readonly accepted: boolean
  readonly rejection: string | null
}

/** A rejected result becomes the accepted one, and the previously accepted one no longer counts. */
export interface ResultPromoted {
  readonly kind: 'promoted'
  readonly taskId: number
  readonly epoch: number
  readonly generation: number
  readonly session: string
  readonly hash: string
}
