import {
  isLive,
  isPending,
  NEW,
  RUN_STATES,
  RUN_TRANSITIONS,
  RUNTIME_CHANGES,
  WAKEUP_END_OF,
  WAKEUP_STATES,
  WAKEUP_TRANSITIONS,
} from '../../src/kinds/run/states.ts'
import { code, codes, diagramOf, fenced, type Transitions, table } from './markdown.ts'

/** The part of docs/state-machines.md about runs, wakeups and what agents keep between runs. */

export const RUN_SOURCE = 'src/kinds/run/states.ts'

export const runMachines = (): string[] => [
  '## Run',
  `The source of this and the next two is [${RUN_SOURCE}](../${RUN_SOURCE}). A run is live until it is over, and then never changes its state again.`,
  table(
    ['state', 'live or over'],
    RUN_STATES.map((state) => [code(state), isLive(state) ? 'live' : 'over']),
  ),
  fenced('mermaid', diagramOf(RUN_TRANSITIONS, RUN_STATES, NEW)),
  transitionsOf(RUN_TRANSITIONS),
  '## Wakeup',
  'A wakeup is pending until it ends, once. A coalesced or skipped one ends with its request.',
  table(
    ['state', 'pending or over'],
    WAKEUP_STATES.map((state) => [code(state), isPending(state) ? 'pending' : 'over']),
  ),
  fenced('mermaid', diagramOf(WAKEUP_TRANSITIONS, WAKEUP_STATES, NEW)),
  transitionsOf(WAKEUP_TRANSITIONS),
  'A wakeup ends with its run:',
  table(
    ['end of the run', 'end of the wakeup'],
    Object.entries(WAKEUP_END_OF).map(([run, wakeup]) => [code(run), code(wakeup)]),
  ),
  '## Runtime state of an agent',
  'What an agent keeps between runs has no states: each of these changes may follow any other, and changes only its own fields.',
  table(
    ['change', 'fields'],
    Object.entries(RUNTIME_CHANGES).map(([name, fields]) => [code(name), codes(fields)]),
  ),
]

const transitionsOf = (transitions: Transitions) =>
  table(
    ['event', 'from', 'to'],
    Object.entries(transitions).map(([name, { from, to }]) => [code(name), codes(from), codes(to)]),
  )
