import type { StoredEvent } from '../../../src/kinds/events.ts'
import type { TaskRecord } from '../../../src/kinds/task/record.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import type { Broken, Invariant } from './invariants.ts'

/** What a person may do with any task, even if others should have judged it. */
const BY_PEOPLE = ['task_human_approved', 'task_completed_by_person', 'task_result_promoted']
const MAY_COMPLETE: Record<TaskRecord['verification'], readonly string[]> = {
  none: ['task_completed', 'task_merged', ...BY_PEOPLE],
  human: BY_PEOPLE,
  verifier: ['task_verification_passed', ...BY_PEOPLE],
  baton: ['task_verification_passed', ...BY_PEOPLE],
}

/** How well a result must do, and what its verifier said. */
interface Said {
  verdict?: unknown
  score?: unknown
}

/** Why a verdict that passes a result of work does not stand. */
function whyNoVerdict(now: Workspace, task: TaskRecord, { payload }: StoredEvent): Broken {
  const rule = now.details.get(task.id)!.plan?.verification
  if (payload.verification == null) {
    if (payload.verifier !== 'baton') return `by ${payload.verifier}, without a verification`
    return rule?.kind === 'agent' && 'by Baton, though an agent should judge it'
  }
  const judge = [...now.tasks.values()].find(({ uuid }) => uuid === payload.verification)
  if (judge?.serves?.taskId !== task.id || judge.serves.generation !== task.generation)
    return `by task ${judge?.id}, which judges something else`
  if (judge.state !== 'completed') return `by task ${judge.id}, which is ${judge.state}`
  if (judge.agent === task.agent) return `by ${judge.agent}, who made it`
  const said = now.results.get(judge.id)?.find(({ accepted }) => accepted)?.data as Said | undefined
  const isEnough = said?.verdict === 'pass' && Number(said.score) >= (rule?.threshold ?? 0.7)
  return !isEnough && `by task ${judge.id}, which said ${JSON.stringify(said)}`
}

export const verdictInvariants: Record<string, Invariant> = {
  resultsHaveVerdicts: {
    says: 'A result that needs a verdict is accepted only with it, and with one that stands.',
    broken: (now, seen) => {
      for (const event of seen.news) {
        if (event.to !== 'completed' || event.taskId === null) continue
        const task = now.tasks.get(event.taskId)!
        // A newer plan may ask for another verdict: on the next result.
        const verification =
          seen.reviews.get(task.id) ?? seen.tasks.get(task.id)?.verification ?? task.verification
        if (!MAY_COMPLETE[verification].includes(event.type))
          return `task ${task.id} needs the verdict of ${verification}, and is completed by ${event.type}`
        if (event.type !== 'task_verification_passed' || task.purpose !== 'work') continue
        const why = whyNoVerdict(now, task, event)
        if (why) return `task ${task.id} passed ${why}`
      }
      return null
    },
  },
  makersDoNotJudge: {
    says: 'Nobody is given their own result to judge.',
    broken: (now, seen) => {
      for (const { task, agent } of seen.granted(now)) {
        if (!task.serves) continue
        const made = now.claims
          .get(task.serves.taskId)
          ?.find(({ generation }) => generation === task.serves!.generation)
        if (made?.agent === agent) return `${agent} got task ${task.id}, about its own result`
      }
      return null
    },
  },
  oneVerificationPerResult: {
    says: 'A result has at most one verification, and it is made while the result waits.',
    broken: (now, seen) => {
      const all = [...now.tasks.values()].filter(({ serves }) => serves !== null)
      for (const { id, serves } of all) {
        if (seen.tasks.has(id)) continue
        const { taskId, generation } = serves!
        const same = all.filter(
          (one) => one.serves!.taskId === taskId && one.serves!.generation === generation,
        )
        if (same.length > 1) return `task ${taskId} has ${same.length} for generation ${generation}`
        const judged = now.tasks.get(taskId)!
        const before = seen.tasks.get(taskId)
        if (judged.state !== 'verifying' && before?.state !== 'verifying')
          return `task ${id} judges task ${taskId}, which is ${judged.state}`
      }
      return null
    },
  },
  plansComeWithTheirVerdict: {
    says: 'The plan of a planner becomes a version of the plan once: together with the end of its planning.',
    broken: (now, seen) => {
      for (const { id, uuid, plan } of now.missions.values()) {
        const before = seen.missions.get(uuid)?.plan?.version ?? 0
        if (!plan?.proposedBy.startsWith('agent:') || plan.version <= before) continue
        const isAccepted = seen.news.some(({ type, taskId }) => {
          const task = taskId === null ? undefined : now.tasks.get(taskId)
          return type === 'task_verification_passed' && task?.purpose === 'planning' && task.missionId === id
        })
        if (!isAccepted) return `mission ${id} got version ${plan.version} by ${plan.proposedBy} without it`
      }
      return null
    },
  },
}
