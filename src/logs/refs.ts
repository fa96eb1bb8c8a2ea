import { LogUnavailable } from './protocol.ts'

/** Ids become names of files and objects: they must not contain path syntax. */
const ID = /^[A-Za-z0-9_-]{1,128}$/

export function logRefOf(run: { workspaceId: string; agentId: string; runId: string }): string {
  for (const [name, id] of Object.entries(run))
    if (!ID.test(id)) throw new RangeError(`${name} may contain only letters, digits, - and _.`)
  return `${run.workspaceId}/${run.agentId}/${run.runId}`
}

/** Returns the reference if its form is valid. */
export function checkedRef(logRef: string): string {
  const parts = logRef.split('/')
  if (parts.length !== 3 || !parts.every((part) => ID.test(part)))
    throw new LogUnavailable('There is no such log: the reference does not belong to this store.')
  return logRef
}
