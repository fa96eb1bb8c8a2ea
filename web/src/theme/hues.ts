import type { Hue } from './marks.ts'

/** Classes of the six hues, written out so that the style sheet has them. */
export const HUE_TEXT = {
  wait: 'text-wait',
  go: 'text-go',
  ask: 'text-ask',
  held: 'text-held',
  done: 'text-done',
  bad: 'text-bad',
} as const satisfies Record<Hue, string>

export const HUE_TINT = {
  wait: 'bg-wait-tint text-wait',
  go: 'bg-go-tint text-go',
  ask: 'bg-ask-tint text-ask',
  held: 'bg-held-tint text-held',
  done: 'bg-done-tint text-done',
  bad: 'bg-bad-tint text-bad',
} as const satisfies Record<Hue, string>

export const HUE_FILL = {
  wait: 'bg-wait',
  go: 'bg-go',
  ask: 'bg-ask',
  held: 'bg-held',
  done: 'bg-done',
  bad: 'bg-bad',
} as const satisfies Record<Hue, string>
