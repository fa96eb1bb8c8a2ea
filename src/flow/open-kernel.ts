import { type Directory, type Fault, Kernel } from '../kernel/kernel.ts'
import type { Store } from '../store/store.ts'
import { followAll } from './unblock.ts'
import { judgeAll } from './verification/judge.ts'

/** A kernel whose finished tasks unblock those that depend on them, and whose results are judged. */
export const openKernel = <S extends Store>(store: S, directory: Directory, fault?: Fault): Kernel<S> =>
  new Kernel(store, directory, { ended: followAll, judged: judgeAll }, fault)
