import type { Kernel } from '../kernel/kernel.ts'
import type { RunStore } from '../kernel/store/run-store.ts'
import type { ServerStore } from './server-store.ts'

/** The kernel of a server. It needs Postgres: besides tasks it has agents, runs, keys, projects and cluster nodes. */
export type ServerKernel = Kernel<ServerStore>

/** The kernel of a process that runs agents: its store holds runs. */
export type RunKernel = Kernel<RunStore>
