import { errorsPage } from './errors.ts'
import { eventsPage } from './events.ts'
import { stateMachines } from './state-machines.ts'

/** Every page that is made from the sources, by its path in the repository. */
export const pages: Record<string, () => string> = {
  'docs/state-machines.md': stateMachines,
  'docs/errors.md': errorsPage,
  'docs/events.md': eventsPage,
}
