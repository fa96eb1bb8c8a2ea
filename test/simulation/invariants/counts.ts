import { countOf, readinessOf, type Upstream } from '../../../src/kinds/task/rules/upstream-counts.ts'
import type { SeenTask } from '../observer.ts'
import type { TaskInvariant, WorldInvariant } from './invariant.ts'

const ruleOf = ({ record, dependencies }: SeenTask) =>
  record.merge === 'none' ? dependencies[0]!.triggerRule : 'all_success'

const inWords = ({ rule, waiting, succeeded, failed, other }: Upstream) =>
  `${rule}: ${waiting} awaited, ${succeeded} completed, ${failed} failed, ${other} others`

const countsAreOfDependencies: TaskInvariant = {
  says: 'The counts of a task are the sum of what its dependencies contributed, under its rule.',
  broken: (task) => {
    const { record, dependencies } = task
    if (record.upstream === null) return null
    if (dependencies.length === 0) return 'it has counts and no dependencies'
    const outcomes = dependencies.map(({ outcome }) => outcome)
    const [has, should] = [inWords(record.upstream), inWords(countOf(ruleOf(task), outcomes))]
    return has !== should && `it counted ${has}; its dependencies are ${should}`
  },
}

const reportsGoForward: TaskInvariant = {
  says: 'A dependency never goes back to how its upstream task stood at an earlier version.',
  broken: ({ dependencies, dependenciesBefore }) => {
    const before = new Map(dependenciesBefore.map((one) => [one.uuid, one.countedVersion]))
    const back = dependencies.find(({ uuid, countedVersion }) => countedVersion < (before.get(uuid) ?? 0))
    return back && `${back.uuid} was counted at version ${before.get(back.uuid)}, then ${back.countedVersion}`
  },
}

const queuedMeansReady: TaskInvariant = {
  says: 'A task is queued because its dependencies are met only when its rule holds.',
  broken: ({ record, news }) => {
    const isQueued = news.some(
      ({ type, payload }) => type === 'task_queued' && payload.because === 'dependencies_met',
    )
    if (!isQueued || record.upstream === null) return null
    return readinessOf(record.upstream) !== 'ready' && `it counted ${inWords(record.upstream)}`
  },
}

const countedMeansHappened: WorldInvariant = {
  says: 'A dependency counts only how its upstream task once ended.',
  broken: ({ changed, tasks }) => {
    if (changed.length === 0) return null
    const byUuid = new Map([...tasks.values()].map((task) => [task.record.uuid, task]))
    for (const { record, dependencies } of changed)
      for (const { uuid, outcome } of dependencies) {
        if (outcome === null) continue
        const ended = byUuid.get(uuid)!.events.some(({ to }) => to === outcome)
        if (!ended) return `task ${record.id} counted ${uuid} as ${outcome}, which it never was`
      }
    return null
  },
}

export const countTaskInvariants = { countsAreOfDependencies, reportsGoForward, queuedMeansReady }
export const countInvariants = { countedMeansHappened }
