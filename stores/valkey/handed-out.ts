import type { Changes } from '../../src/kernel/store/portable.ts'
import type { TaskDetails } from '../../src/kinds/task/command.ts'
import type { Commands } from './commands.ts'
import type { Keys } from './keys.ts'
import { readDetails } from './reads.ts'
import type { TasksAfter } from './tasks-after.ts'

/** How many names one command takes. */
const AT_ONCE = 1_000

export type Give = (answers: readonly unknown[]) => void

/** The details of tasks that a batch hands out come with the answer to its write: their holders need no second round trip. */
export function askForDetails(
  commands: Commands,
  keys: Keys,
  { tasks }: TasksAfter,
  grantedTasks: Changes['grantedTasks'],
): Give {
  const ids = grantedTasks.map(({ record }) => record.id)
  for (let i = 0; i < ids.length; i += AT_ONCE)
    commands.after('answer', 'MGET', ...ids.slice(i, i + AT_ONCE).map(keys.details))
  const pieces = Math.ceil(ids.length / AT_ONCE)
  const withMore = ids.filter((id) => tasks.get(id)?.marks.hasMore !== false)
  for (const id of withMore) {
    commands.after('answer', 'HGETALL', keys.changed(id))
    commands.after('answer', 'LRANGE', keys.needs(id), '0', '-1')
  }
  return (answers) => {
    const made = answers.slice(0, pieces).flat() as string[]
    const more = new Map(
      withMore.map((id, i) => [
        id,
        answers.slice(pieces + 2 * i, pieces + 2 * i + 2) as [string[], string[]],
      ]),
    )
    grantedTasks.forEach((one, i) => {
      const [changed, needs] = more.get(one.record.id) ?? [[], []]
      one.details = readDetails([made[i]!, changed, needs]) satisfies TaskDetails
    })
  }
}
