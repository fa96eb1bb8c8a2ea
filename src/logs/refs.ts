import { LogUnavailable } from './protocol.ts'

/** Ids become names of files and objects: nothing in them may lead elsewhere. */
const ID = /^[A-Za-z0-9_-]{1,128}$/

export function logRefOf(run: { workspaceId: string; agentId: string; runId: string }): string {
  for (const [name, id] of Object.entries(run))
    if (!ID.test(id)) throw new RangeError(`${name} may have letters, digits, - and _ only.`)
  return `${run.workspaceId}/${run.agentId}/${run.runId}`
}

/** The same text, when it is one of ours. */
export function checkedRef(logRef: string): string {
  const parts = logRef.split('/')
  if (parts.length !== 3 || !parts.every((part) => ID.test(part)))
    throw new LogUnavailable('There is no such log: its reference is not one of this store.')
  return logRef
}
