import { type OpenLog, pageOf, streamOf } from './pages.ts'
import type { LogStoreType, LogSummary, RunLogStore } from './protocol.ts'
import type { RawLogs } from './raw-logs.ts'

/** What a store does with a log that is complete. */
interface FinishedStore {
  open(logRef: string): Promise<OpenLog>
  finish(logRef: string): Promise<LogSummary>
  remove(logRef: string): Promise<void>
}

/** A store whose logs grow in a folder of this node, wherever they are stored once finished. */
export function growingStore(type: LogStoreType, logs: RawLogs, finished: FinishedStore): RunLogStore {
  const finishing = new Map<string, Promise<LogSummary>>()
  return {
    type,
    begin: async (run) => ({ store: type, logRef: await logs.begin(run) }),
    append: ({ logRef }, entries) => logs.append(logRef, entries),

    async finalize({ logRef }) {
      let summary = finishing.get(logRef)
      if (!summary) {
        summary = finished.finish(logRef).finally(() => finishing.delete(logRef))
        finishing.set(logRef, summary)
      }
      return summary
    },

    async read({ logRef }, range) {
      const log = await finished.open(logRef)
      try {
        return await pageOf(log, range)
      } finally {
        await log.close()
      }
    },

    stream: ({ logRef }, stream) => streamOf(() => finished.open(logRef), stream),

    async delete({ logRef }) {
      // Otherwise the finishing would create it again.
      await finishing.get(logRef)?.catch(() => undefined)
      await finished.remove(logRef)
    },
  }
}
