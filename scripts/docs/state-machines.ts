import type { NewTask } from '../../src/kinds/task/command.ts'
import { createTask } from '../../src/kinds/task/rules/create.ts'
import { countOf, outcomeOf } from '../../src/kinds/task/rules/upstream-counts.ts'
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
} from '../../src/pure/states.ts'
import { code, codes, fenced, madeFrom, page, table } from './markdown.ts'
import { MISSION_SOURCE, missionMachine } from './mission-machine.ts'
import { RUN_SOURCE, runMachines } from './run-machines.ts'

const SOURCE = 'src/pure/states.ts'

const WHO = {
  holder: 'the current holder of the task, or the last one',
  operator: 'a person, or a program that acts for one',
  time: 'upkeep: a due time has passed, or a lease has expired',
  flow: 'Baton, as a consequence of another change',
} as const satisfies Record<(typeof TASK_TRANSITIONS)[TransitionName]['by'], string>

const TYPES = {
  pending: 'The task is queued, scheduled, waiting for a retry, or blocked by dependencies.',
  running: 'The task has an active claim. In all other types it has none.',
  paused: 'The task waits for a person or for a verdict.',
  terminal: 'The task is finished. Only an explicit reset or retry reopens it.',
} as const satisfies Record<StateType, string>

const transitions = Object.entries(TASK_TRANSITIONS) as [
  TransitionName,
  { from: readonly TaskState[]; to: TaskState; by: keyof typeof WHO },
][]
const types = Object.keys(TYPES) as StateType[]
const ofType = (type: StateType) => taskStates.filter((state) => TASK_STATES[state].type === type)

export function stateMachines(): string {
  return page(
    madeFrom(`${SOURCE}, ${MISSION_SOURCE} and ${RUN_SOURCE}`),
    '# State machines',
    `The states of tasks, claims, missions, runs and wakeups, and their transitions. The source of the first two is [${SOURCE}](../${SOURCE}). The server executes the same tables, so a transition that is not on this page is impossible.`,
    '## Task',
    'A state has a type, for programs, and a name, for people. The board column is derived from the state.',
    table(
      ['type', 'meaning'],
      types.map((type) => [code(type), TYPES[type]]),
    ),
    table(
      ['state', 'type', 'board column'],
      taskStates.map((state) => [code(state), TASK_STATES[state].type, TASK_STATES[state].board]),
    ),
    'In the diagram, an arrow from a box means an arrow from every state in it. Labels are event types without their `task_`.',
    fenced('mermaid', taskDiagram()),
    'Initial states of a new task:',
    table(
      ['when', 'state'],
      initialStates().map(({ when, state }) => [when, code(state)]),
    ),
    'Every later state change writes one event of this type:',
    table(
      ['event', 'from', 'to', 'by'],
      transitions.map(([name, { from, to, by }]) => [code(name), codes(from), code(to), by]),
    ),
    table(
      ['by', 'caused by'],
      Object.entries(WHO).map(([by, who]) => [by, who]),
    ),
    '## Claim',
    'A claim is one generation of a task: its holder, its start and end, and the end reason. It starts as active and ends once.',
    fenced('mermaid', claimDiagram()),
    table(
      ['end reason', 'state of the claim'],
      Object.entries(CLAIM_ENDS).map(([reason, state]) => [code(reason), code(state)]),
    ),
    ...missionMachine(),
    ...runMachines(),
  )
}

/** Computed by the rule that creates tasks, so that this page cannot contradict it. */
export function initialStates(): { when: string; state: TaskState }[] {
  const stateOf = (upstream: TaskState[], runAt: number | null) =>
    createTask({ ...SAMPLE, runAt }, countsOf(upstream), IDENTITY, 'system', 0).record.state
  return [
    { when: 'it is ready', state: stateOf([], null) },
    { when: '`runAt` is in the future', state: stateOf([], 1) },
    { when: 'it depends on an unfinished task', state: stateOf(['running'], null) },
    { when: 'it requires the success of a failed task', state: stateOf(['failed'], null) },
  ]
}

const countsOf = (upstream: readonly TaskState[]) =>
  upstream.length === 0 ? null : countOf('all_success', upstream.map(outcomeOf))

const IDENTITY = { id: 1, uuid: '', parentId: null, dependsOn: [] }

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
  verification: 'none',
  runAt: null,
  expiresAt: null,
  missionId: null,
  purpose: 'work',
  optional: false,
  ...{ timers: null, continuation: null, agentChoice: null, children: null },
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

/** The box of a type instead of its states, if a transition leaves from all of them. */
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
  for (const { state } of initialStates()) draw('[*]', state, 'created')
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
