import type { AdapterInvokeResult } from '../adapters/protocol.ts'
import { ChildFields } from '../kinds/mission/shapes/children.ts'
import { addChild } from '../kinds/task/acts/children.ts'
import { Refused } from '../pure/errors.ts'
import type { ExecutorContext } from './context.ts'
import { asAgent, type Held } from './holding.ts'

/** The tasks that the agent of a run adds to its mission while it works. */
export class AddedTasks {
  readonly #context: ExecutorContext
  readonly #run: { runId: string; workspaceId: number; agent: string }
  readonly #ids = new Map<string, string>()
  #reported = 0

  constructor(context: ExecutorContext, run: { runId: string; workspaceId: number; agent: string }) {
    this.#context = context
    this.#run = run
  }

  /** Returns why the task was not added, if it was not. */
  async add(held: Held | null, reported: Record<string, unknown>): Promise<string | null> {
    const { runId, workspaceId, agent } = this.#run
    this.#reported += 1
    if (!held) return 'the run has no task'
    const read = ChildFields.safeParse(reported)
    if (!read.success) {
      const [{ path, message }] = read.error.issues as [(typeof read.error.issues)[number]]
      return `${path.join('.')}: ${message}`
    }
    const { tempId } = read.data
    // One without a name of its own gets one: when the answer of the database is lost, it is added once all the same.
    const child = { ...read.data, tempId: tempId ?? `${runId}/${this.#reported}` }
    const { uuid, session, generation } = held
    try {
      const { id } = await this.#context.storeRetry.whileUnavailable(() =>
        addChild(this.#context.kernel, asAgent(workspaceId, agent), uuid, child, { session, generation }),
      )
      if (tempId !== undefined) this.#ids.set(tempId, id)
      return null
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      return `${error.code}: ${error.message.replace('tasks[0].', '')}`
    }
  }

  /** A program knows the tasks that it added by its own names for them. */
  withIds(answer: AdapterInvokeResult): AdapterInvokeResult {
    if (!Array.isArray(answer?.after)) return answer
    return { ...answer, after: answer.after.map((name) => this.#ids.get(name) ?? name) }
  }
}
