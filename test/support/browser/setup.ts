import type { TestProject } from 'vitest/node'
import { ensureAppBuilt } from '../../../scripts/launch/build.mjs'
import { obtainChromium, serveChromium } from '../chromium.ts'
import type { Skipped } from '../servers/obtain.ts'

/** One browser and one build of the app for all browser tests of a run. A run without such tests needs neither. */
export default async function setup(project: TestProject) {
  await ensureAppBuilt()
  const program = await obtainChromium()
  if (typeof program !== 'string') {
    project.provide('chromium', program)
    return
  }
  const server = await serveChromium(program)
  project.provide('chromium', { endpoint: server.wsEndpoint() })
  return () => server.close()
}

declare module 'vitest' {
  export interface ProvidedContext {
    chromium: { endpoint: string } | Skipped
  }
}
