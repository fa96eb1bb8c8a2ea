import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { brief, list, why } from '../../pure/words.ts'

const event = eventsAbout({ entity: 'workspace' }, {})

export const workspaceEvents = {
  workspace_created: event.info({ name: text }, ({ name }) => `The workspace "${brief(name)}" was created.`),
  limits_changed: event.info(
    { changed: z.record(text, z.unknown()) },
    ({ changed }) => `Limits were changed: ${list(Object.keys(changed))}.`,
  ),
  recovery_forced: event.warn(
    { did: z.record(text, z.int()), allWorkspaces: z.boolean().optional() },
    ({ did, allWorkspaces }) =>
      allWorkspaces
        ? 'Recovery was forced in all workspaces.'
        : `Recovery was forced: ${list(Object.entries(did).map(([what, times]) => `${what} ${times}`))}.`,
  ),
  /** What is counted in one place and written in another differed, which is a fault. */
  counters_corrected: event.error(
    { counter: text, error: text },
    ({ error }) => `A counter was wrong, and was corrected${why(error)}.`,
  ),
  /** One for each cycle: it belongs to no single task. */
  dependency_cycle_found: event.error(
    { cycle: z.array(text) },
    ({ cycle }) => `Dependency cycle: ${list(cycle, ' → ')}.`,
  ),
}

type WorkspaceEvents = typeof workspaceEvents
declare module '../events.ts' {
  interface Catalogue extends WorkspaceEvents {}
}
