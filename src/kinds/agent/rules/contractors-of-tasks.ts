import type { NewTask, OnTask } from '../../task/command.ts'
import type { NewContractor } from './contractors.ts'

/** The contractors of new tasks, and of tasks that a newer plan changes, each once. */
export function contractorsIn(tasks: readonly NewTask[], changes: readonly OnTask[] = []): NewContractor[] {
  const bySlug = new Map<string, NewContractor>()
  const add = (contractor: NewContractor | undefined) => contractor && bySlug.set(contractor.slug, contractor)
  for (const { contractor } of tasks) add(contractor)
  for (const { command } of changes) if (command.kind === 'replan') add(command.contractor)
  return [...bySlug.values()]
}
