import { type OpenLog, pageOf, streamOf } from './pages.ts'
import type { LogStoreType, LogSummary, RunLogStore } from './protocol.ts'
import type { RawLogs } from './raw-logs.ts'

/** What a store does with a log that has grown to its end. */
interface Finishing {
  open(logRef: string): Promise<OpenLog>
  finish(logRef: string): Promise<LogSummary>
  remove(logRef: string): Promise<void>
}

/** A store whose logs grow in a folder of this node, whatever becomes of them when they are finished. */
export function growingStore(type: LogStoreType, logs: RawLogs, ways: Finishing): RunLogStore {
  const finishing = new Map<string, Promise<LogSummary>>()
  return {
    type,
    begin: async (run) => ({ store: type, logRef: await logs.begin(run) }),
    append: ({ logRef }, entries) => logs.append(logRef, entries),

    async finalize({ logRef }) {
      let summary = finishing.get(logRef)
      if (!summary) {
        summary = ways.finish(logRef).finally(() => finishing.delete(logRef))
        finishing.set(logRef, summary)
      }
      return summary
    },

    async read({ logRef }, range) {
      const log = await ways.open(logRef)
      try {
        return await pageOf(log, range)
      } finally {
        await log.close()
      }
    },

    stream: ({ logRef }, stream) => streamOf(() => ways.open(logRef), stream),

    async delete({ logRef }) {
      // Or it would come back.
      await finishing.get(logRef)?.catch(() => undefined)
      await ways.remove(logRef)
    },
  }
}
