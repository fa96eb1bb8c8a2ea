import type { RunErrorCode } from '../core/runs/outcomes.ts'

/** The run cannot begin: nothing was started, and this is why. */
export class Unfit extends Error {
  override name = 'Unfit'
  readonly code: RunErrorCode
  /** When it may be tried again, if that is known. */
  readonly retryAt: string | null

  constructor(code: RunErrorCode, message: string, retryAt: string | null = null) {
    super(message)
    this.code = code
    this.retryAt = retryAt
  }
}
