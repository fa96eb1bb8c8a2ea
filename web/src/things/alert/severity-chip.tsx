import type { Severity } from '../../../../src/kinds/alert/causes.ts'
import { Chip } from '../../parts/chip.tsx'
import { SEVERITY_LOOKS } from './severity.ts'

export const SeverityChip = ({ severity }: { severity: Severity }) => (
  <Chip hue={SEVERITY_LOOKS[severity].hue}>{SEVERITY_LOOKS[severity].words}</Chip>
)
