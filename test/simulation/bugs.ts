import { decideAll } from '../../src/kernel/batch/decide-all.ts'
import { type Changes, type Request, readSetOf } from '../../src/kernel/batch/requests.ts'
import { PausingMemory } from './backing.ts'
import { coordinatorBugs } from './coordinator-bugs.ts'
import { graphBugs } from './graph-bugs.ts'
import type { PlantedBug } from './planted-bug.ts'
import { type Command, onCommand, withRecords } from './planting.ts'
import { workerAndPartBugs } from './worker-bugs.ts'

class MemoryWithoutLocks extends PausingMemory {
  protected override locked<T>(_workspaceId: number, act: () => Promise<T>): Promise<T> {
    return act()
  }
}

const withoutKey = ({ idempotency: _, ...request }: Request): Request => request as Request
const isClaim = (request: Request) =>
  request.on === 'next' || (request.on === 'task' && request.command.kind === 'claim')

const mistakes = {
  noLock: {
    says: 'Transactions on one task run side by side.',
    foundBy: [
      'claimRowsAreOneToGeneration',
      'oneActiveClaim',
      'oneEventForEachChange',
      'versionGrows',
      'generationNeverFalls',
      'heldMeansActiveClaim',
      'claimsAreCounted',
      'replayGivesTheTask',
      'resultHashIsTheStandingResult',
      'eventTimesNeverFall',
      'sameKeyGivesTheSameReply',
      'createdOnce',
      'overMeansSilentOrSaid',
      'agentsFollowTheirLog',
      'heartbeatsGoForward',
      'attemptsAreCounted',
    ],
    Memory: MemoryWithoutLocks,
  },
  clientsClock: {
    says: 'Leases are judged by the clock of the caller.',
    foundBy: ['eventTimesNeverFall', 'grantsDoNotOverlap', 'beliefsAreTrue'],
    view: (view, [first]) => ({ ...view, now: first!.clock }),
  },
  clockBeforeLock: {
    says: 'The clock is read before the lock is held, so a wait for the lock is overlooked.',
    foundBy: [
      'eventTimesNeverFall',
      'leasesAreExtendedOnlyWhileLive',
      'grantsDoNotOverlap',
      'beliefsAreTrue',
      'overMeansSilentOrSaid',
      'heartbeatsGoForward',
    ],
    wrap: (balancer, now) => ({
      transact(workspaceId, { decide, ...step }) {
        const before = now()
        return balancer.transact(workspaceId, {
          ...step,
          decide: (view) => decide({ ...view, now: before }),
        })
      },
    }),
  },
  renewsTheExpired: {
    says: 'A renewal checks the generation but not the time.',
    foundBy: ['leasesAreExtendedOnlyWhileLive'],
    view(view, envelopes) {
      const renewed = new Set(
        envelopes.map(({ request }) =>
          request.on === 'task' && request.command.kind === 'renew' ? request.taskId : 0,
        ),
      )
      return withRecords(view, ({ id, claimState, leaseExpiresAt }) =>
        renewed.has(id) && claimState === 'active' && leaseExpiresAt! <= view.now
          ? { leaseExpiresAt: view.now + 1 }
          : null,
      )
    },
  },
  generationFallsOnRelease: {
    says: 'A released claim returns its generation.',
    foundBy: ['generationNeverFalls'],
    changes: (changes) => ({
      ...changes,
      tasks: changes.tasks.map((task) =>
        task.state === 'queued' &&
        changes.events.some(({ type, taskId }) => type === 'task_released' && taskId === task.id)
          ? { ...task, generation: task.generation - 1 }
          : task,
      ),
    }),
  },
  noFence: {
    says: 'A result is accepted from any sender, whatever generation it names.',
    foundBy: ['acceptedResultIsTheHolders', 'resultHashIsTheStandingResult', 'completedMeansAccepted'],
    request: onCommand('submit', (command, { generation, session }) =>
      session === null ? command : { ...command, fence: { generation, session } },
    ),
    changes: (changes, requests) => ({
      ...changes,
      results: changes.results.map((result) => {
        const sender = requests.find(
          (request) =>
            request.on === 'task' &&
            request.command.kind === 'submit' &&
            result.kind === 'written' &&
            request.command.submission.hash === result.hash,
        )
        return sender ? { ...result, ...(sender as { command: Command<'submit'> }).command.fence } : result
      }),
    }),
  },
  ignoresTheSession: {
    says: 'The fence compares the generation and not the session.',
    foundBy: ['acknowledgedGrantsAreStored', 'acknowledgedResultsAreStored'],
    request(request, view) {
      if (request.on !== 'task' || !('fence' in request.command)) return request
      const record = view.records.get(request.taskId)
      const { fence } = request.command
      if (record?.generation !== fence.generation) return request
      return { ...request, command: { ...request.command, fence: { ...fence, session: record.session! } } }
    },
  },
  claimsForgetTheirKeys: {
    says: 'An idempotency key on a claim is ignored.',
    foundBy: ['sameKeyGivesTheSameReply'],
    request: (request) => (isClaim(request) ? withoutKey(request) : request),
  },
  keysServeAnything: {
    says: 'A key answers for any request that names it.',
    foundBy: ['sameKeyGivesTheSameReply'],
    request: (request) =>
      request.idempotency ? { ...request, idempotency: { ...request.idempotency, bodyHash: '' } } : request,
  },
  eventsOutsideTheTransaction: {
    says: 'Events are written after the commit, in a transaction of their own.',
    foundBy: ['oneEventForEachChange', 'overMeansSilentOrSaid', 'agentsFollowTheirLog'],
    wrap: (store) => ({
      async transact(workspaceId, { decide, ...step }) {
        let events: Changes['events'] = []
        const answer = await store.transact(workspaceId, {
          ...step,
          decide(view) {
            const { answer, changes } = decide(view)
            events = changes.events
            return { answer, changes: { ...changes, events: [] } }
          },
        })
        return store.transact(workspaceId, {
          on: 'batch',
          reads: readSetOf([]),
          decide: (view) => ({ answer, changes: { ...decideAll(view, []).changes, events } }),
        })
      },
    }),
  },
  answersBeforeCommit: {
    says: 'Callers are answered when the decision is made, before it is written.',
    foundBy: [
      'acknowledgedTasksAreStored',
      'acknowledgedGrantsAreStored',
      'acknowledgedResultsAreStored',
      'acknowledgedSessionsAreStored',
    ],
    wrap: (store) => ({
      transact: (workspaceId, { decide, ...step }) =>
        new Promise((resolve, reject) => {
          const decideAloud: typeof decide = (view) => {
            const decision = decide(view)
            resolve(decision.answer)
            return decision
          }
          store.transact(workspaceId, { ...step, decide: decideAloud }).catch(reject)
        }),
    }),
  },
  acceptsTwice: {
    says: 'A completed task accepts another result.',
    foundBy: ['oneAcceptedResultAnEpoch'],
    changes: (changes) => ({
      ...changes,
      results: changes.results.map((result) =>
        result.kind === 'written' && result.rejection === 'TASK_ALREADY_COMPLETED'
          ? { ...result, accepted: true, rejection: null }
          : result,
      ),
    }),
  },
  sweepsByOldLease: {
    says: 'The sweep expires a lease by the time it read before it held the lock, though it was renewed since.',
    foundBy: ['grantsDoNotOverlap', 'beliefsAreTrue'],
    view(view, envelopes) {
      const swept = new Map(
        envelopes
          .filter(({ request, seen }) => request.on === 'task' && request.command.kind === 'elapse' && seen)
          .map(({ seen }) => [seen!.id, seen!]),
      )
      return withRecords(view, ({ id, generation }) => {
        const seen = swept.get(id)
        return seen?.generation === generation ? { leaseExpiresAt: seen.leaseExpiresAt } : null
      })
    },
  },
  expiredClaimsStayCounted: {
    says: 'The counter of active claims misses those that expire.',
    foundBy: ['claimsAreCounted'],
    changes: (changes) => {
      const expired = changes.claims.filter(
        (claim) => claim.kind === 'ended' && claim.reason === 'EXPIRED',
      ).length
      return { ...changes, activeClaimsDelta: changes.activeClaimsDelta + expired }
    },
  },
  retriesInMemory: {
    says: 'The wait before a retry is a timer in the node, not in the row.',
    foundBy: ['everyRowCanMove'],
    changes: (changes) => ({
      ...changes,
      tasks: changes.tasks.map((task) => (task.state === 'awaiting_retry' ? { ...task, dueAt: null } : task)),
    }),
  },
  dependentsAreForgotten: {
    says: 'A task is not unblocked when its dependencies have ended.',
    foundBy: ['everyTaskEnds'],
    request: onCommand('countUpstream', (command) => ({ ...command, edges: [] })),
  },
  ...graphBugs,
  ...workerAndPartBugs,
  ...coordinatorBugs,
} satisfies Record<string, PlantedBug>

export type BugName = keyof typeof mistakes
export const BUGS: Record<BugName, PlantedBug> = mistakes
