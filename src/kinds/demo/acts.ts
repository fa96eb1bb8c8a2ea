import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { commandAgent } from '../agent/acts/agents.ts'
import type { AgentProfile } from '../agent/record.ts'
import { createMission } from '../mission/acts/missions.ts'
import { MissionCreate } from '../mission/shapes/missions.ts'
import * as api from './api.ts'

/** The agents of the demonstration. They follow scripts: no model, no program, and the money that they spend is simulated. */

type Step = Record<string, unknown>

const work = (
  what: string,
  [read, write]: readonly [read: string, write: string],
  ms: [number, number],
): Step[] => [
  { status: what, color: 'blue' },
  { progress: 10, step: what },
  { say: 'I read what is there first.' },
  { call: `Read ${read}` },
  { usage: { inputTokens: 1_200, outputTokens: 150 } },
  { waitMs: ms },
  { progress: 60, step: what },
  { call: `Write ${write}` },
  { usage: { inputTokens: 800, outputTokens: 420 } },
  { waitMs: ms },
]

const CODE = ['docs/wanted.md', 'src/shop.ts'] as const
const TESTS: Step = { call: 'Bash npm test' }

const scripted = (
  name: string,
  steps: readonly Step[],
  more: Partial<AgentProfile> = {},
): Partial<AgentProfile> => ({
  name,
  adapterType: 'simulated',
  adapterConfig: { steps, costUsd: '0.04' },
  // Other work of the workspace is not theirs: they would play their parts with it.
  runtimeConfig: { reservedOnly: true },
  ...more,
})

const done = (summary: string, result: unknown = { done: true }): Step => ({ result, summary })

export const DEMO_AGENTS: Record<string, Partial<AgentProfile>> = {
  'demo-architect': scripted('Demo architect', [
    ...work('writing down what is wanted', ['README.md', 'docs/wanted.md'], [500, 900]),
    done('Six parts, and how they fit together.'),
  ]),
  'demo-dev': scripted(
    'Demo developer',
    [...work('writing code', CODE, [400, 1_000]), TESTS, done('Written and tested.')],
    {
      maxConcurrentTasks: 3,
    },
  ),
  'demo-hasty': scripted('Demo developer in a hurry', [
    ...work('writing code', CODE, [300, 600]),
    // The last result counts: in the first attempt the one without tests.
    done('Written, with twelve tests.', { files: 5, tests: 12 }),
    { attempt: 1, ...done('Written; the tests can wait.', { files: 4 }) },
  ]),
  'demo-designer': scripted('Demo designer', [
    ...work('drawing pages', ['docs/wanted.md', 'src/pages.tsx'], [300, 600]),
    { ask: 'Which colour should the button be?', options: ['green', 'blue'] },
    { say: 'The button gets the chosen colour.' },
    done('Pages with a button.'),
  ]),
  'demo-flaky': scripted('Demo developer whose program crashes once', [
    ...work('writing code', CODE, [300, 600]),
    { attempt: 1, call: 'Bash npm test', isError: true },
    { attempt: 1, fail: { code: 'nonzero_exit', message: 'The program crashed.' } },
    TESTS,
    done('Written, on the second attempt.'),
  ]),
  'demo-sleepy': scripted('Demo developer that hangs once', [
    ...work('writing code', CODE, [300, 600]),
    { attempt: 1, call: 'Bash npm run index' },
    { attempt: 1, waitMs: 600_000 },
    TESTS,
    done('Written, after the first attempt hung and was stopped.'),
  ]),
  'demo-reviewer': scripted(
    'Demo reviewer',
    [
      ...work('reviewing', ['src/shop.ts', 'docs/review.md'], [300, 600]),
      done('It does what was asked for.', {
        verdict: 'pass',
        score: 0.92,
        feedback: 'It does what was asked for.',
        evidence: ['Read all of src/shop.ts.', 'The parts fit together.'],
      }),
    ],
    { maxConcurrentTasks: 2 },
  ),
}

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

const GOAL =
  'Open a small shop.\nA demonstration: its agents follow scripts. The money that they spend is simulated, and counts only in the budget of this mission.'

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
    config: { autonomy: 'full_auto', retry: { baseSeconds: 1 }, budget: { maxUsd: '5.00' } },
  })
  return createMission(kernel, caller, body)
}

export const demoActs = actsOf(api)({
  startDemo: async ({ kernel }, { body, caller }) => {
    const mission = await startDemo(kernel, caller, body.title)
    return { ...mission, missionId: mission.id }
  },
})
