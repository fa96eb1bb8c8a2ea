import type { Severity } from '../../../../src/kinds/alert/causes.ts'
import type { Hue } from '../../theme/marks.ts'

/** How a severity looks, and what it is called. */
export const SEVERITY_LOOKS: Record<Severity, { words: string; hue: Hue }> = {
  critical: { words: 'Critical', hue: 'bad' },
  warning: { words: 'Warning', hue: 'ask' },
  info: { words: 'Info', hue: 'wait' },
}
