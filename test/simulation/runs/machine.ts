import type { LogEntry, RunLogStore } from '../../../src/logs/protocol.ts'
import type { SimulatedFolder } from './folders.ts'

/** A machine: which processes of Baton are alive on it, and which programs of runs. */
export class Machine {
  readonly host: string
  readonly bootId: string
  /** When the process of this number started. */
  readonly started = new Map<number, string>()
  /** Programs that run, by run. They outlive the process of Baton that started them. */
  readonly programs = new Map<string, { generation: number | null; taskId: string | null }>()
  /** Worktrees, by path. */
  readonly folders = new Map<string, SimulatedFolder>()
  #pids = 100

  constructor(host: string) {
    this.host = host
    this.bootId = `boot of ${host}`
  }

  start(): number {
    const pid = ++this.#pids
    this.started.set(pid, `${pid} on ${this.host}`)
    return pid
  }
}

/** Logs that every machine can read. */
export function memoryLogs(): RunLogStore {
  const logs = new Map<string, LogEntry[]>()
  const textOf = (logRef: string, stream?: string) =>
    (logs.get(logRef) ?? [])
      .filter((entry) => stream === undefined || entry.stream === stream)
      .map(({ chunk }) => chunk)
      .join('')
  return {
    type: 'postgres',
    begin: async ({ runId }) => ({ store: 'postgres', logRef: runId }),
    append: async ({ logRef }, entries) => {
      logs.set(logRef, [...(logs.get(logRef) ?? []), ...entries])
    },
    finalize: async ({ logRef }) => ({
      ...{ bytes: textOf(logRef).length, sha256: '', compressed: false, truncated: false },
    }),
    read: async ({ logRef }) => {
      const content = textOf(logRef)
      return { content, offset: 0, bytes: Buffer.byteLength(content), nextOffset: null, spans: [] }
    },
    async *stream({ logRef }, stream) {
      yield textOf(logRef, stream)
    },
    delete: async ({ logRef }) => void logs.delete(logRef),
  }
}
