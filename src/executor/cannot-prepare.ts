import type { RunErrorCode } from '../kinds/run/rules/outcomes.ts'

/** Why a run cannot start. Nothing was spawned. */
export class CannotPrepare extends Error {
  override name = 'CannotPrepare'
  readonly code: RunErrorCode
  /** When it may be retried, if known. */
  readonly retryAt: string | null

  constructor(code: RunErrorCode, message: string, retryAt: string | null = null) {
    super(message)
    this.code = code
    this.retryAt = retryAt
  }
}
