import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { commandAgent } from '../agent/acts/agents.ts'
import { createMission } from '../mission/acts/missions.ts'
import { MissionCreate } from '../mission/shapes/missions.ts'
import { DEMO_AGENTS } from './acts/agents.ts'
import * as api from './api.ts'

/**
 * A mission that shows what Baton does: work side by side, a check that fails and passes at the next attempt, a crash, a program
 * that hangs, a question and an approval. It needs nothing, and can be started again and again.
 */

const TASKS = [
  { tempId: 'spec', title: 'Write down what the shop must do', agent: 'demo-architect' },
  {
    tempId: 'api',
    title: 'Build the API',
    agent: 'demo-hasty',
    dependsOn: ['spec'],
    outputSchema: { type: 'object', required: ['tests'], properties: { tests: { type: 'integer' } } },
    verification: { kind: 'auto' },
  },
  { tempId: 'web', title: 'Build the pages', agent: 'demo-designer', dependsOn: ['spec'] },
  { tempId: 'payments', title: 'Build payments', agent: 'demo-flaky', dependsOn: ['spec'] },
  {
    tempId: 'search',
    title: 'Build the search',
    agent: 'demo-sleepy',
    dependsOn: ['spec'],
    timeouts: { attemptSeconds: 5 },
  },
  { tempId: 'import', title: 'Import the products', agent: 'demo-dev', dependsOn: ['spec'] },
  { tempId: 'docs', title: 'Write the manual', agent: 'demo-dev', dependsOn: ['spec'] },
  {
    tempId: 'join',
    title: 'Put the parts together',
    agent: 'demo-dev',
    dependsOn: ['api', 'web', 'payments', 'search'],
    verification: { kind: 'agent', agent: 'demo-reviewer', threshold: 0.8 },
  },
  { tempId: 'load', title: 'Try it under load', agent: 'demo-dev', dependsOn: ['join', 'import'] },
  { tempId: 'security', title: 'Look for holes', agent: 'demo-reviewer', dependsOn: ['join'] },
  { tempId: 'package', title: 'Make a package', agent: 'demo-dev', dependsOn: ['load', 'security', 'docs'] },
  {
    tempId: 'release',
    title: 'Release the shop',
    agent: 'demo-dev',
    dependsOn: ['package'],
    verification: { kind: 'human' },
  },
]

/** Missions with this tag are demonstrations. */
export const DEMO_TAG = 'demo'

const GOAL = 'Open a small shop.\nA demonstration: its agents follow scripts, and cost nothing.'

/** Its agents are registered again each time: whatever was changed about them, the demonstration goes the same way. */
export async function startDemo(
  kernel: ServerKernel,
  caller: Caller,
  title = 'Demonstration: open a small shop',
) {
  const alone = { ...caller, idempotency: undefined }
  for (const [slug, profile] of Object.entries(DEMO_AGENTS))
    await commandAgent(kernel, alone, slug, { kind: 'register', profile, ifVersion: null })
  const body = MissionCreate.parse({
    goal: GOAL,
    title,
    tags: [DEMO_TAG],
    plan: { tasks: TASKS },
    config: { autonomy: 'full_auto', retry: { baseSeconds: 1 } },
  })
  return createMission(kernel, caller, body)
}

export const demoActs = actsOf(api)({
  startDemo: async ({ kernel }, { body, caller }) => {
    const mission = await startDemo(kernel, caller, body.title)
    return { ...mission, missionId: mission.id }
  },
})
