import { rulesFile } from './alert-rules.ts'
import { alertsPage } from './alerts.ts'
import { dashboard } from './dashboard.ts'
import { errorsPage } from './errors.ts'
import { eventsPage } from './events.ts'
import { metricsPage } from './metrics.ts'
import { stateMachines } from './state-machines.ts'

/** The generated pages, by their path in the repository. */
export const pages: Record<string, () => string> = {
  'docs/state-machines.md': stateMachines,
  'docs/alerts.md': alertsPage,
  'docs/errors.md': errorsPage,
  'docs/events.md': eventsPage,
  'docs/metrics.md': metricsPage,
  'deploy/prometheus/baton-rules.yml': rulesFile,
  'deploy/grafana/baton.json': dashboard,
}
