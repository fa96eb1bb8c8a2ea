import type { ServerStore } from '../store/server-store.ts'
import type { Kernel } from './kernel.ts'

/** The kernel of a server. It needs Postgres: besides tasks it has agents, runs, keys, projects and cluster nodes. */
export type ServerKernel = Kernel<ServerStore>
