import type { Step } from '../../../../src/kinds/run/shapes/transcript.ts'
import type { IconName } from '../../theme/icons.ts'

/** How each kind of step looks, and its name for screen readers. */
export const STEP_KINDS = {
  session: { icon: 'play', words: 'Session' },
  said: { icon: 'comment', words: 'Said' },
  thought: { icon: 'more', words: 'Thought' },
  call: { icon: 'terminal', words: 'Call' },
  result: { icon: 'arrow-left', words: 'Result' },
  edit: { icon: 'edit', words: 'Edit' },
  asked: { icon: 'help', words: 'Asked' },
  limited: { icon: 'clock', words: 'Limited' },
  retried: { icon: 'retry', words: 'Tried again' },
  ended: { icon: 'flag', words: 'Ended' },
  log: { icon: 'runs', words: 'Log' },
} as const satisfies Record<Step['kind'], { icon: IconName; words: string }>
