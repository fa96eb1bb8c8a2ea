import { isContractorSlug } from '../../../src/kinds/agent/rules/contractors.ts'
import { isEnd } from '../../../src/kinds/mission/states.ts'
import type { Workspace } from '../../../src/memory/workspace.ts'
import { isHeld } from '../../../src/pure/states.ts'
import type { Broken, Invariant } from './invariants.ts'

export const contractorInvariants: Record<string, Invariant> = {
  reservedTasksAreKept: {
    says: 'A reserved task goes only to the agent it is reserved for; a contractor gets no other tasks.',
    broken: (now, seen) => {
      for (const { task, agent } of seen.granted(now)) {
        const only = seen.tasks.get(task.id)?.onlyAgent ?? null
        if (only !== null && only !== agent) return `${agent} got task ${task.id}, reserved for ${only}`
        if (only === null && isContractorSlug(agent)) return `${agent} got task ${task.id}, which is for all`
      }
      return null
    },
  },
  contractorsAreThere: {
    says: 'A contractor that its mission names exists, and belongs to that mission.',
    broken: ({ missions, agents }) => {
      for (const { id, contractors } of missions.values())
        for (const slug of contractors)
          if (agents.get(slug)?.missionId !== id) return `mission ${id} names ${slug}`
      return null
    },
  },
}

export const contractorsAfterQuiet = {
  contractorsAreGone: {
    says: 'A contractor is terminated when its mission has ended and it holds nothing, and exists while the mission is open.',
    broken: ({ agents, missions, tasks }: Workspace): Broken => {
      for (const { slug, kind, mission, state } of agents.values()) {
        if (kind !== 'contractor') continue
        const { id, phase } = missions.get(mission!)!
        const isBusy = [...tasks.values()].some(({ agent, state: at }) => agent === slug && isHeld(at))
        if (isEnd(phase) === (state === 'terminated') || (isEnd(phase) && isBusy)) continue
        return `a contractor is ${state}, and its mission ${id} is ${phase}`
      }
      return null
    },
  },
}
