import type { OnWritten, Written } from '../door/server-store.ts'
import { type Answered, answeredCommands } from '../kernel/batch/answered.ts'
import type { OnAnswered } from '../kernel/combiner.ts'
import type { TaskCommand } from '../kinds/task/command.ts'
import type { ErrorCode } from '../pure/errors.ts'
import type { Count } from './count.ts'
import { type Labels, OTHER } from './labels.ts'
import { countOfBatch } from './of-batch.ts'
import { countOfRuns } from './of-runs.ts'
import type { Instruments } from './registry.ts'

/**
 * Counts what was committed, where it was: each transaction once, however often it was decided again, and never what is only asked for
 * or repeated under an idempotency key.
 */

/** What a holder writes that has lost its claim. */
const ZOMBIE: ReadonlySet<ErrorCode> = new Set([
  ...(['STALE_GENERATION', 'GENERATION_MISMATCH', 'SESSION_MISMATCH'] as const),
  ...(['NO_CLAIM', 'ALREADY_EXPIRED'] as const),
])

const GRANTS: Partial<Record<TaskCommand['kind'], string>> = { submit: 'accepted', renew: 'renewed' }

export class Counting {
  readonly #all: Instruments
  readonly #labels: Labels
  readonly #fault: (error: unknown, what: string) => void
  /** What waits for names. Scrapes wait for it, too. */
  #waiting: Promise<unknown> = Promise.resolve()

  constructor(all: Instruments, labels: Labels, fault: (error: unknown, what: string) => void) {
    this.#all = all
    this.#labels = labels
    this.#fault = fault
  }

  written: OnWritten = (workspaceId, written) => this.#count(workspaceId, (count) => countOf(written, count))

  answered: OnAnswered = (workspaceId, answered) =>
    this.#count(workspaceId, (count) => countAnswers(answered, count))

  /** When all that was committed so far is counted. */
  async settled(): Promise<void> {
    await this.#waiting
  }

  /** A fault in counting must not fail what was committed. */
  #count(workspaceId: number, act: (count: Count) => void): void {
    try {
      const later: Parameters<Count>[] = []
      act((count, projectId) => {
        const labels = this.#labels.of(workspaceId, projectId)
        if (labels) count(labels, this.#all)
        else later.push([count, projectId])
      })
      if (later.length > 0) this.#waiting = this.#waiting.then(() => this.#countLater(workspaceId, later))
    } catch (error) {
      this.#fault(error, 'what was committed could not be counted')
    }
  }

  /** A workspace or a project that is new to this node. */
  async #countLater(workspaceId: number, later: readonly Parameters<Count>[]): Promise<void> {
    const isUnknown = later.some(([, projectId]) => this.#labels.of(workspaceId, projectId) === null)
    try {
      if (isUnknown) await this.#labels.learn()
    } catch (error) {
      this.#fault(error, 'the names of workspaces and projects could not be read')
    }
    for (const [count, projectId] of later) {
      const unnamed = { workspace: this.#labels.workspace(workspaceId) ?? OTHER, project: OTHER }
      count(this.#labels.of(workspaceId, projectId) ?? unnamed, this.#all)
    }
  }
}

function countOf(written: Written, count: Count): void {
  if (written.on === 'batch') countOfBatch(written, count)
  else countOfRuns(written, count)
}

/** Refusals change nothing, so only the answers show them. */
function countAnswers(answered: Answered, count: Count): void {
  for (const { kind, taskId, reply } of answeredCommands(answered)) {
    const projectId = answered.records.get(taskId)?.projectId ?? 0
    const result = reply.ok ? GRANTS[kind] : reply.code.toLowerCase()
    if (result === undefined) continue
    if (kind === 'claim')
      count(
        (labels, all) => all.baton_claims_total.inc({ ...labels, result: CLAIM_RESULTS[result] ?? result }),
        projectId,
      )
    else if (kind === 'submit')
      count((labels, all) => all.baton_results_total.inc({ ...labels, result }), projectId)
    else if (kind === 'renew') {
      const renewed = reply.ok ? 'renewed' : 'failed'
      count((labels, all) => all.baton_lease_renewals_total.inc({ ...labels, result: renewed }), projectId)
    }
    if (!reply.ok && ZOMBIE.has(reply.code)) {
      const { code } = reply
      count(
        (labels, all) => all.baton_stale_writes_refused_total.inc({ ...labels, command: kind, code }),
        projectId,
      )
    }
  }
}

const CLAIM_RESULTS: Readonly<Record<string, string>> = { denied_active_claim: 'denied_active' }
