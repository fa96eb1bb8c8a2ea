import type { RunStore } from '../../src/kernel/store/run-store.ts'
import type { EventType, Origin } from '../../src/kinds/events.ts'
import { workspaceEvent } from '../../src/kinds/events.ts'
import { NOTHING_ASKED, NOTHING_CHANGED, type RunsChanges } from '../../src/kinds/run/rules/step.ts'

type Emitted = readonly [type: EventType, by: Origin, payload: Record<string, unknown>]

/** Events of no change, or of this one, in one transaction. */
export const appendEvents = (
  store: Pick<RunStore, 'transact'>,
  workspaceId: number,
  events: readonly Emitted[],
  changes: Partial<RunsChanges> = {},
) =>
  store.transact<void>(workspaceId, {
    on: 'runs',
    reads: NOTHING_ASKED,
    decide: ({ now }) => ({
      answer: undefined,
      changes: {
        ...{ ...NOTHING_CHANGED, ...changes },
        events: events.map(([type, by, payload]) => workspaceEvent(type, payload, { ...by, now })),
      },
    }),
  })
