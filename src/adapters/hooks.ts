import type { AdapterHooks } from './protocol.ts'

/**
 * The same hooks, all present and none that throws: a failed report must not change the outcome of a run.
 */
export function quietHooks(hooks: AdapterHooks): Required<AdapterHooks> {
  return {
    status: async (update) => quietly(() => hooks.status?.(update)),
    log: async (event) => quietly(() => hooks.log?.(event)),
    usage: async (usage) => quietly(() => hooks.usage?.(usage)),
    event: async (eventType, payload) => quietly(() => hooks.event?.(eventType, payload)),
  }
}

async function quietly(act: () => Promise<void> | undefined): Promise<void> {
  try {
    await act()
  } catch {
    // The owner of the hook has handled the error already.
  }
}
