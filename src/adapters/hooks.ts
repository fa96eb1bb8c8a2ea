import type { AdapterHooks } from './protocol.ts'

/**
 * The same hooks, each of them there and none that throws: what becomes of an agent does not hang on whether somebody could
 * write down how it went.
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
    // Whoever gave the hook knows of it already.
  }
}
