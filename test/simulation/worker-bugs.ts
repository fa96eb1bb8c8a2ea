import type { Request, View } from '../../src/kernel/batch/requests.ts'
import type { SeenOf } from '../../src/kinds/kind.ts'
import type { PlantedBug } from './planted-bug.ts'
import { onCommand, withRecords } from './planting.ts'

/** The view with some sessions looking different from what they are. */
function withSessions(view: View, change: (session: SeenOf<'session'>) => SeenOf<'session'>): View {
  const { session } = view.kinds
  const seen = new Map([...session.seen].map(([name, one]) => [name, change(one)]))
  return { ...view, kinds: { ...view.kinds, session: { ...session, seen } } }
}

/** How many tasks a request may add to its session. */
function wantedBy(session: string, request: Request): number {
  if (request.on === 'next' && request.session === session) return request.limit
  return request.on === 'task' && request.command.kind === 'claim' && request.command.session === session
    ? 1
    : 0
}

const promotionIn = (request: Request) =>
  request.on === 'task' && request.command.kind === 'promote' ? request.command : null

export const workerAndPartBugs = {
  capacityCountedOnceABatch: {
    says: 'What a worker holds is counted when a batch begins, and not again in it.',
    foundBy: ['workersHoldWhatTheyCan'],
    view(view, envelopes) {
      const workers = new Map(
        [...view.workers].map(([name, { record, held }]) => {
          const wanted = envelopes.reduce((sum, { request }) => sum + wantedBy(name, request), 0)
          const hasRoom = held < record.capacity!
          return [name, { held, record: { ...record, capacity: hasRoom ? held + wanted : record.capacity } }]
        }),
      )
      return { ...view, workers }
    },
  },
  capacityIsAHint: {
    says: 'The capacity of a worker is not checked.',
    foundBy: ['workersHoldWhatTheyCan', 'goneWorkersHoldNothing'],
    view: (view) => ({ ...view, workers: new Map() }),
  },
  tracksAreOpen: {
    says: 'The limit of agents of a track is not checked.',
    foundBy: ['tracksHaveTheirAgents'],
    view: (view) => ({ ...view, tracks: new Map() }),
  },
  lostWorkersKeepTheirTasks: {
    says: 'What a lost worker holds is left to its leases.',
    foundBy: ['goneWorkersHoldNothing'],
    view(view, envelopes) {
      const judged = new Set(
        envelopes.map(({ request }) =>
          request.on === 'session' && request.command.kind === 'elapse' ? request.key : '',
        ),
      )
      return withSessions(view, (session) =>
        judged.has(session.record.name) ? { ...session, holding: [] } : session,
      )
    },
  },
  sessionsAreNotCounted: {
    says: 'Sessions are opened without checking how many there are.',
    foundBy: ['sessionsAreCounted'],
    view: ({ kinds, ...view }) => ({
      ...view,
      kinds: { ...kinds, session: { ...kinds.session, counted: 0 } },
    }),
  },
  silenceByAnotherClock: {
    says: 'The silence of a worker is judged by a clock that is ahead.',
    foundBy: ['overMeansSilentOrSaid'],
    request: (request) =>
      request.on === 'session' && request.command.kind === 'elapse'
        ? { ...request, command: { kind: 'elapse', silentMs: 3_000 } }
        : request,
  },
  mergesWhatWasRead: {
    says: 'A merge does not check the parts again when it is written.',
    foundBy: ['mergedIsItsParts'],
    request: onCommand('merge', (command) => ({ ...command, parts: [] })),
  },
  promotesBeside: {
    says: 'A promoted result is accepted beside the one that was accepted before.',
    foundBy: [
      'oneAcceptedResultAnEpoch',
      'resultHashIsTheStandingResult',
      'acceptedResultIsTheHolders',
      'completedMeansAccepted',
    ],
    changes: (changes, requests) => ({
      ...changes,
      results: changes.results.map((result) => {
        if (result.kind !== 'promoted') return result
        const { ref } = requests.map(promotionIn).find((command) => command?.hash === result.hash)!
        const rest = { agent: null, rejection: null, ref, data: '"promoted"', summary: null, at: 0 }
        return { ...result, ...rest, kind: 'written', accepted: true }
      }),
    }),
  },
  expiresWhatIsHeld: {
    says: 'A task is cancelled at its expiry time even while it is held.',
    foundBy: ['heldMeansActiveClaim', 'oneEventForEachChange', 'claimsAreCounted', 'replayGivesTheTask'],
    view: (view, envelopes) =>
      withRecords(view, ({ id, claimState, expiresAt }) => {
        const isSwept = envelopes.some(
          ({ request }) =>
            request.on === 'task' && request.command.kind === 'elapse' && request.taskId === id,
        )
        if (!isSwept || claimState !== 'active' || expiresAt === null || expiresAt > view.now) return null
        return { state: 'queued', claimState: 'released', rank: 0, dueAt: expiresAt }
      }),
  },
  forgetsTheExpiry: {
    says: 'A requeued task waits forever, even after its expiry time.',
    foundBy: ['queuedTasksKnowTheirEnd'],
    changes: (changes) => ({
      ...changes,
      tasks: changes.tasks.map((task) => (task.state === 'queued' ? { ...task, dueAt: null } : task)),
    }),
  },
  uniqueTasksAreForgotten: {
    says: 'The key of a single task is ignored.',
    foundBy: ['oneTaskUnderItsKey', 'createdOnce', 'clientsNeverThrow'],
    request: (request) =>
      request.on === 'new'
        ? { ...request, tasks: request.tasks.map((task) => ({ ...task, unique: null })) }
        : request,
  },
  stallsByOldSight: {
    says: 'Silence is judged by a read from before the lock, even if the holder has written since.',
    foundBy: ['stalledMeansSilent'],
    view: (view, envelopes) =>
      withRecords(view, ({ id, generation }) => {
        const stalled = envelopes.find(
          ({ request, seen }) =>
            request.on === 'task' &&
            request.command.kind === 'stall' &&
            seen?.id === id &&
            seen.generation === generation,
        )
        return stalled ? { updatedAt: stalled.seen!.updatedAt } : null
      }),
  },
} satisfies Record<string, PlantedBug>
