import type { AgentProfile } from '../../task/record.ts'

/** The agents of the demonstration. They follow scripts: no model, no program, no money. */

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
  adapterConfig: { steps, costUsd: '0' },
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
