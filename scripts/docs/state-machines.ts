import type { NewTask } from '../../src/core/commands.ts'
import { createTask } from '../../src/core/rules/create.ts'
import {
  CLAIM_ENDS,
  CLAIM_STATES,
  type ClaimEnd,
  type StateType,
  TASK_STATES,
  TASK_TRANSITIONS,
  type TaskState,
  type TransitionName,
  taskStates,
} from '../../src/core/states.ts'
import { code, codes, fenced, madeFrom, page, table } from './markdown.ts'

const SOURCE = 'src/core/states.ts'

const WHO = {
  holder: 'the agent that holds the task, or held it last',
  operator: 'a person, or a program that acts for one',
  time: 'time: a due moment has come, or a lease has ended',
  flow: 'Baton, as a consequence of something else',
} as const satisfies Record<(typeof TASK_TRANSITIONS)[TransitionName]['by'], string>

const TYPES = {
  pending: 'The task waits for its turn, its time or other tasks.',
  running: 'An agent holds the task, by an active claim. Only then.',
  paused: 'The task waits for a person or for a verdict.',
  terminal: 'The task is over. Only an explicit reset or retry opens it again.',
} as const satisfies Record<StateType, string>

const transitions = Object.entries(TASK_TRANSITIONS) as [
  TransitionName,
  { from: readonly TaskState[]; to: TaskState; by: keyof typeof WHO },
][]
const types = Object.keys(TYPES) as StateType[]
const ofType = (type: StateType) => taskStates.filter((state) => TASK_STATES[state].type === type)

export function stateMachines(): string {
  return page(
    madeFrom(SOURCE),
    '# State machines',
    `What a task and a claim can be, and how they change. The tables are [${SOURCE}](../${SOURCE}); the server follows the same ones, so a change that is not on this page cannot be made.`,
    '## Task',
    'A state has a type, which programs look at, and a name, which people read. The column of the board follows from the state.',
    table(
      ['type', 'meaning'],
      types.map((type) => [code(type), TYPES[type]]),
    ),
    table(
      ['state', 'type', 'board column'],
      taskStates.map((state) => [code(state), TASK_STATES[state].type, TASK_STATES[state].board]),
    ),
    'In the drawing, an arrow from a box stands for one from every state in it. Labels are names of events without their `task_`.',
    fenced('mermaid', taskDiagram()),
    'A new task begins in one of these states:',
    table(
      ['when', 'state'],
      beginnings().map(({ when, state }) => [when, code(state)]),
    ),
    'Every later change of state leaves one event, which names it:',
    table(
      ['event', 'from', 'to', 'by'],
      transitions.map(([name, { from, to, by }]) => [code(name), codes(from), code(to), by]),
    ),
    table(
      ['by', 'who makes the change happen'],
      Object.entries(WHO).map(([by, who]) => [by, who]),
    ),
    '## Claim',
    'A claim is one generation of a task: who held it, from when to when, and why that ended. It begins active and ends once.',
    fenced('mermaid', claimDiagram()),
    table(
      ['reason', 'the claim is then'],
      Object.entries(CLAIM_ENDS).map(([reason, state]) => [code(reason), code(state)]),
    ),
  )
}

/** Asked of the rule that makes tasks, so that this page cannot say otherwise. */
export function beginnings(): { when: string; state: TaskState }[] {
  const begin = (upstream: TaskState[], runAt: number | null) =>
    createTask({ ...SAMPLE, runAt }, upstream, NOBODY, 'system', 0).record.state
  return [
    { when: 'nothing holds it back', state: begin([], null) },
    { when: 'its time has not come', state: begin([], 1) },
    { when: 'it depends on a task that is not over', state: begin(['running'], null) },
    { when: 'it needs the success of a task that failed', state: begin(['failed'], null) },
  ]
}

const NOBODY = { id: 1, uuid: '', parentId: null, dependsOn: [] }

const SAMPLE: NewTask = {
  key: null,
  projectId: 0,
  parent: null,
  merge: 'none',
  priority: 5,
  maxRetries: 3,
  maxContinuations: 10,
  onlyAgent: null,
  capabilities: [],
  review: 'none',
  runAt: null,
  expiresAt: null,
  watch: null,
  dependsOn: [],
  dependsOnNew: [],
  unique: null,
  triggerRule: 'all_success',
  details: {
    title: 'a task',
    taskType: 'other',
    description: null,
    input: null,
    tags: [],
    dependsOn: [],
    userId: null,
    project: null,
    parent: null,
  },
}

const box = (type: StateType) => `type_${type}`

/** Boxes instead of their states, where a transition leaves from all states of a type. */
function origins(from: readonly TaskState[], to: TaskState): string[] {
  const whole = types.filter(
    // Mermaid draws no arrow from a box into itself.
    (type) => ofType(type).every((state) => from.includes(state)) && TASK_STATES[to].type !== type,
  )
  const single = from.filter((state) => !whole.includes(TASK_STATES[state].type))
  return [...whole.map(box), ...single]
}

function taskDiagram(): string {
  const arrows = new Map<string, string[]>()
  const draw = (from: string, to: string, label: string) => {
    const arrow = `${from} --> ${to}`
    const labels = arrows.get(arrow) ?? []
    if (!labels.includes(label)) arrows.set(arrow, [...labels, label])
  }
  for (const { state } of beginnings()) draw('[*]', state, 'created')
  for (const [name, { from, to }] of transitions)
    for (const origin of origins(from, to)) draw(origin, to, name.replace(/^task_/, ''))
  const boxes = types.flatMap((type) => [
    `  state "type: ${type}" as ${box(type)} {`,
    ...ofType(type).map((state) => `    ${state}`),
    '  }',
  ])
  return [
    'stateDiagram-v2',
    ...boxes,
    ...[...arrows].map(([arrow, labels]) => `  ${arrow} : ${labels.join(', ')}`),
  ].join('\n')
}

function claimDiagram(): string {
  const [first, ...ends] = CLAIM_STATES
  const reasons = (state: string) =>
    (Object.keys(CLAIM_ENDS) as ClaimEnd[]).filter((reason) => CLAIM_ENDS[reason] === state).join(', ')
  return [
    'stateDiagram-v2',
    `  [*] --> ${first} : granted`,
    ...ends.flatMap((state) => [`  ${first} --> ${state} : ${reasons(state)}`, `  ${state} --> [*]`]),
  ].join('\n')
}
