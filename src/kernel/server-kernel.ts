import type { ServerStore } from '../store/server-store.ts'
import type { Kernel } from './kernel.ts'

/** The kernel of a server, which needs Postgres: beside tasks it has agents, runs, keys, projects and other nodes. */
export type ServerKernel = Kernel<ServerStore>
