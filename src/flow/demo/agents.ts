import type { AgentProfile } from '../../core/records.ts'

/** The agents of the demonstration. They follow scripts: no model, no program, no money. */

type Step = Record<string, unknown>

const work = (what: string, ms: [number, number]): Step[] => [
  { status: what, color: 'blue' },
  { progress: 10, step: what },
  { call: `read ${what}` },
  { usage: { inputTokens: 1_200, outputTokens: 150 } },
  { waitMs: ms },
  { progress: 60, step: what },
  { say: `${what}: half of it is done.` },
  { usage: { inputTokens: 800, outputTokens: 420 } },
  { waitMs: ms },
]

const scripted = (
  name: string,
  steps: readonly Step[],
  more: Partial<AgentProfile> = {},
): Partial<AgentProfile> => ({
  name,
  adapterType: 'simulated',
  adapterConfig: { steps },
  ...more,
})

const done = (summary: string, result: unknown = { done: true }): Step => ({ result, summary })

export const DEMO_AGENTS: Record<string, Partial<AgentProfile>> = {
  'demo-architect': scripted('Demo architect', [
    ...work('writing down what is wanted', [500, 900]),
    done('Six parts, and how they fit together.'),
  ]),
  'demo-dev': scripted(
    'Demo developer',
    [...work('writing code', [400, 1_000]), done('Written and tried.')],
    {
      maxConcurrentTasks: 3,
    },
  ),
  'demo-hasty': scripted('Demo developer in a hurry', [
    ...work('writing code', [300, 600]),
    // The last result counts: in the first attempt the one without tests.
    done('Written, with twelve tests.', { files: 5, tests: 12 }),
    { attempt: 1, ...done('Written; the tests can wait.', { files: 4 }) },
  ]),
  'demo-designer': scripted('Demo designer', [
    ...work('drawing pages', [300, 600]),
    { ask: 'Which colour shall the button have?', options: ['green', 'blue'] },
    { say: 'With the colour that was chosen.' },
    done('Pages with a button.'),
  ]),
  'demo-flaky': scripted('Demo developer whose program crashes once', [
    ...work('writing code', [300, 600]),
    { attempt: 1, fail: { code: 'nonzero_exit', message: 'The program crashed.' } },
    done('Written, at the second attempt.'),
  ]),
  'demo-sleepy': scripted('Demo developer that hangs once', [
    ...work('writing code', [300, 600]),
    { attempt: 1, waitMs: 600_000 },
    done('Written, after it was stopped and tried again.'),
  ]),
  'demo-reviewer': scripted(
    'Demo reviewer',
    [
      ...work('reading what was made', [300, 600]),
      done('Good work.', {
        verdict: 'pass',
        score: 0.92,
        feedback: 'It does what was asked for.',
        evidence: ['Read all of it.', 'The parts fit together.'],
      }),
    ],
    { maxConcurrentTasks: 2 },
  ),
}
