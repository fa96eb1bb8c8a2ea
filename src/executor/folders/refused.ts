import type { RunErrorCode } from '../../core/runs/outcomes.ts'

/** An agent cannot work where it should: one sentence for the person who said where. */
export class FolderRefused extends Error {
  override name = 'FolderRefused'
  readonly code: RunErrorCode = 'invalid_working_directory'
}
