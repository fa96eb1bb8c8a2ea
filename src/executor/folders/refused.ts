import type { RunErrorCode } from '../../kinds/run/rules/outcomes.ts'

/** An agent cannot work in its folder. The message is one sentence for the person who configured it. */
export class FolderRefused extends Error {
  override name = 'FolderRefused'
  readonly code: RunErrorCode = 'invalid_working_directory'
}
