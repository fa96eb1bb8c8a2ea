import {
  GATE_REASONS,
  MISSION_PHASES,
  MISSION_STATES,
  MISSION_TRANSITIONS,
  missionStates,
  NEW,
} from '../../src/kinds/mission/states.ts'
import { code, codes, diagramOf, fenced, table } from './markdown.ts'

/** The part of docs/state-machines.md about missions. */

export const MISSION_SOURCE = 'src/kinds/mission/states.ts'

const REASONS = {
  unapproved: 'Its plan waits for approval.',
  paused: 'A person paused it.',
  budget: 'It has spent its budget.',
  cancelling: 'It is being cancelled, or stopped because a task failed.',
} as const satisfies Record<(typeof GATE_REASONS)[number], string>

interface Transition {
  from: readonly string[]
  to: string | null
  closes?: string
  opens?: string
  by: string
}

const transitions = Object.entries(MISSION_TRANSITIONS) as [string, Transition][]

const phaseChanges = () =>
  Object.fromEntries(
    transitions.flatMap(([name, { from, to }]) => (to === null ? [] : [[name, { from, to: [to] }]])),
  )

export const missionMachine = (): string[] => [
  '## Mission',
  `The source is [${MISSION_SOURCE}](../${MISSION_SOURCE}). A mission whose gate is closed hands out no tasks. It shows \`paused\` before \`budget_exceeded\`, and either before how far it has come.`,
  table(
    ['state', 'type'],
    missionStates.map((state) => [code(state), MISSION_STATES[state].type]),
  ),
  'How far a mission has come changes by these events:',
  fenced('mermaid', diagramOf(phaseChanges(), MISSION_PHASES, NEW)),
  table(
    ['event', 'from', 'to', 'the gate', 'by'],
    transitions.map(([name, { from, to, closes, opens, by }]) => [
      code(name),
      codes(from),
      to === null ? 'stays' : code(to),
      closes ? `closed by ${code(closes)}` : opens ? `no longer closed by ${code(opens)}` : '',
      by,
    ]),
  ),
  'What closes the gate (`closedBy`):',
  table(
    ['reason', 'meaning'],
    GATE_REASONS.map((reason) => [code(reason), REASONS[reason]]),
  ),
]
