import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { isUuid } from '../../../pure/ids.ts'
import { tasksByKeys } from '../postgres/graph.ts'
import { parseTaskName } from '../rules/names.ts'

/** The id of the task that people name by its key or its number; null: the text is neither, and may be an id. */
export async function taskIdNamed(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  text: string,
): Promise<string | null> {
  if (isUuid(text)) return null
  const name = parseTaskName(text)
  if (name === null) return null
  if (name.kind === 'number') {
    const [record] = await kernel.store.recordsById(workspaceId, [name.number])
    if (record) return record.uuid
  } else {
    const found = await tasksByKeys(kernel.store.readers, workspaceId, name.first, name.last)
    const [only] = found
    if (only && found.length === 1) return only
    if (only)
      throw new Refused(
        'NOT_FOUND',
        `"${text}" may be one of several tasks; name it by its number or its id.`,
      )
  }
  throw new Refused('NOT_FOUND', `There is no task ${text} in this workspace.`)
}
