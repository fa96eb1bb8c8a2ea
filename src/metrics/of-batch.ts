import type { Written } from '../door/server-store.ts'
import { endOfMission } from '../kinds/mission/states.ts'
import { isTerminal } from '../pure/states.ts'
import type { Count } from './count.ts'

type WrittenBatch = Extract<Written, { on: 'batch' }>

/** What a batch did to tasks, claims and missions. Sums are counted once for each project: a batch may have thousands of tasks. */
export function countOfBatch({ view, changes }: WrittenBatch, count: Count): void {
  const projectOf = (taskId: number) => view.records.get(taskId)?.projectId ?? 0
  const sums = new Sums()
  for (const { record } of changes.created) sums.add(record.projectId, 'created')
  for (const claim of changes.claims) {
    const projectId = projectOf(claim.taskId)
    if (claim.kind === 'opened') sums.add(projectId, 'granted')
    else {
      if (claim.state === 'expired') sums.add(projectId, 'expired')
      const seconds = Math.max(0, claim.at - claim.acquiredAt) / 1000
      count((labels, all) => all.baton_claim_duration_seconds.observe(labels, seconds), projectId)
    }
  }
  for (const { taskId, set } of changes.details)
    if (set.exhausted != null) sums.add(projectOf(taskId), 'exhausted')
  for (const task of changes.tasks) {
    if (!isTerminal(task.state) || view.records.get(task.id)?.state === task.state) continue
    if (task.purpose !== 'work') continue
    const { projectId, generation, state, createdAt, completedAt } = task
    if (state === 'failed') sums.add(projectId, 'failed')
    if (generation > 0)
      count((labels, all) => all.baton_generations_per_task.observe(labels, generation), projectId)
    if (state !== 'completed') continue
    const seconds = Math.max(0, (completedAt ?? createdAt) - createdAt) / 1000
    count((labels, all) => all.baton_task_completion_time_seconds.observe(labels, seconds), projectId)
  }
  sums.count(count)
  for (const event of changes.events) {
    const state = endOfMission(event)
    if (state !== null)
      count(({ workspace }, all) => all.baton_missions_ended_total.inc({ workspace, state }), 0)
  }
}

type Sum = 'created' | 'granted' | 'expired' | 'failed' | 'exhausted'

/** What is counted, by project. */
class Sums {
  readonly #byProject = new Map<number, Partial<Record<Sum, number>>>()

  add(projectId: number, sum: Sum): void {
    const of = this.#byProject.get(projectId) ?? {}
    of[sum] = (of[sum] ?? 0) + 1
    this.#byProject.set(projectId, of)
  }

  count(count: Count): void {
    for (const [projectId, { created, granted, expired, failed, exhausted }] of this.#byProject)
      count((labels, all) => {
        if (created) all.baton_tasks_created_total.inc(labels, created)
        if (granted) {
          all.baton_claims_total.inc({ ...labels, result: 'granted' }, granted)
          all.baton_generation_increments_total.inc(labels, granted)
        }
        if (expired) all.baton_lease_expirations_total.inc(labels, expired)
        if (failed) all.baton_tasks_failed_total.inc(labels, failed)
        if (exhausted) all.baton_tasks_retry_exhausted_total.inc(labels, exhausted)
      }, projectId)
  }
}
