import type { NewTask, TaskDetails } from '../core/commands.ts'
import { DEFAULT_MAX_CONTINUATIONS } from '../core/retry.ts'

/** The fields that Baton's own tasks (planning, verification, report) do not set. */

const NOT_SAID = {
  key: null,
  parent: null,
  merge: 'none',
  runAt: null,
  expiresAt: null,
  watch: null,
  unique: null,
  capabilities: [],
  maxContinuations: DEFAULT_MAX_CONTINUATIONS,
  // A mission can end without it.
  optional: true,
  dependsOn: [],
  dependsOnNew: [],
  triggerRule: 'all_success',
} as const satisfies Partial<NewTask>

const NOT_SAID_IN_DETAILS = { tags: [], dependsOn: [], userId: null, parent: null } as const
const LONGEST_TITLE = 500

type Without<T, K> = Omit<T, keyof K> & Partial<Pick<T, keyof K & keyof T>>

interface OwnTask extends Without<Omit<NewTask, 'details'>, typeof NOT_SAID> {
  details: Without<TaskDetails, typeof NOT_SAID_IN_DETAILS>
}

export const ownTask = ({ details, ...task }: OwnTask): NewTask => ({
  ...NOT_SAID,
  ...task,
  details: { ...NOT_SAID_IN_DETAILS, ...details, title: details.title.slice(0, LONGEST_TITLE) },
})
