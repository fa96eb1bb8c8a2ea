import { concernsAVerdict, endsOrReopens, isUncounted } from '../kernel/batch/moved.ts'
import { type Directory, type Fault, Kernel } from '../kernel/kernel.ts'
import type { Reaction } from '../kernel/reactions.ts'
import type { Store } from '../kernel/store/store.ts'
import { countAgain, unblockDownstream } from '../kinds/task/acts/unblock.ts'
import { judgeAll } from '../kinds/verification/acts/judge.ts'

/** What follows from changes of tasks, in this order. */
export const REACTIONS: readonly Reaction<Kernel>[] = [
  { when: concernsAVerdict, react: judgeAll, fault: 'a result could not be judged' },
  { when: isUncounted, react: countAgain, fault: 'the dependencies of a task could not be counted' },
  {
    ...{ when: endsOrReopens, react: unblockDownstream, isBatched: true },
    fault: 'the dependents of finished tasks could not be unblocked',
  },
]

export const openKernel = <S extends Store>(store: S, directory: Directory, fault?: Fault): Kernel<S> =>
  new Kernel(store, directory, REACTIONS, fault)
