import type { Purpose } from '../../task/record.ts'

/** What is asked of the ledger; ids are those inside. */
export interface UsageOf {
  from: number
  to: number
  task?: number | undefined
  mission?: number | undefined
  /** A slug. */
  project?: string | undefined
  agent?: string | undefined
  model?: string | undefined
  operation?: Purpose | undefined
}

/** The values of a statement; $1 is the workspace. */
export class Values {
  readonly all: unknown[] = []
  add(value: unknown): string {
    this.all.push(value)
    return `$${this.all.length + 1}`
  }
  at(ms: number): string {
    return `${this.add(new Date(ms).toISOString())}::timestamptz`
  }
}

/** Which sources s are asked for. Simulated money is in no sum but those of its own mission and task. */
export function whichSources({ task, mission, project, agent, operation }: UsageOf, values: Values): string {
  const isOwn = task !== undefined || mission !== undefined
  const ofProject = (slug: string) =>
    `(select p.project_id from projects p where p.workspace_id = $1 and p.slug = ${values.add(slug)})`
  const wanted = [
    ...(isOwn ? [] : ['not s.is_simulated']),
    ...(task === undefined ? [] : [`s.task_id = ${values.add(task)}`]),
    ...(mission === undefined ? [] : [`s.mission_id = ${values.add(mission)}`]),
    ...(project === undefined ? [] : [`s.project_id = ${ofProject(project)}`]),
    ...(agent === undefined ? [] : [`s.agent = ${values.add(agent)}`]),
    ...(operation === undefined ? [] : [`s.operation = ${values.add(operation)}`]),
  ]
  return wanted.map((one) => `and ${one}`).join(' ')
}
