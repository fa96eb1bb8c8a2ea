import { SEVERITIES } from '../../../../src/kinds/alert/causes.ts'
import { PageLink } from '../../links.tsx'
import { Icon } from '../../parts/icon.tsx'
import { countText, plainWords } from '../../parts/wording.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import { SEVERITY_LOOKS } from '../../things/alert/severity.ts'
import type { Overview } from './use-overview.ts'

/** A line of what is wrong and looked after by nobody; nothing, when there is nothing. */
export function Alerts({ alerts: { counts, items } }: { alerts: Overview['alerts'] }) {
  const [worst] = items
  if (!worst) return null
  const all = SEVERITIES.reduce((sum, severity) => sum + counts[severity], 0)
  const { hue } = SEVERITY_LOOKS[worst.severity]
  return (
    <section
      aria-label="Alerts"
      className="flex min-w-0 items-center gap-2 rounded-card border border-line bg-raised px-4 py-2 text-row"
    >
      <Icon className={HUE_TEXT[hue]} name="bell" />
      <PageLink className="shrink-0 font-medium hover:text-accent hover:underline" to="/alerts">
        {all === 1 ? '1 alert' : `${countText(all)} alerts`}
      </PageLink>
      <span className="min-w-0 flex-1 truncate text-muted">
        {items
          .map(({ title, name }) => (name === null ? title : `${title} (${plainWords(name)})`))
          .join(' · ')}
      </span>
    </section>
  )
}
