import type { NewTask, TaskCommand } from '../../src/kinds/task/command.ts'
import type { Reply } from './replies.ts'
import { newTask, type Overrides, sha256, type Task, type Work } from './tasks.ts'

/** Parts of an existing task. */
export const partsOf = ({ id, uuid }: Task, count: number, overrides: Overrides = {}): NewTask[] =>
  Array.from({ length: count }, () => newTask({ ...overrides, parent: { id, uuid } }))

/** The merge of a caller that has read the results of these parts. */
export async function mergeOf(
  work: Work,
  whole: Task,
  parts: readonly Task[],
): Promise<Extract<TaskCommand, { kind: 'merge' }>> {
  const { version } = await work.record(whole)
  const read = await Promise.all(
    parts.map(async (part) => {
      const { id, generation, resultHash } = await work.record(part)
      const accepted = (await work.results(part)).find((result) => result.accepted)
      return { part: { id, generation, hash: resultHash ?? '' }, data: accepted?.data }
    }),
  )
  const data = JSON.stringify({ parts: read.map((one) => one.data) })
  const submission = { data, hash: sha256(data), bytes: Buffer.byteLength(data), summary: null }
  return { kind: 'merge', version, parts: read.map(({ part }) => part), submission }
}

export const merge = async (work: Work, parent: Task, parts: readonly Task[]): Promise<Reply> =>
  work.command(parent, await mergeOf(work, parent, parts), 'system')
