import type { TestProject } from 'vitest/node'
import { ensureAppBuilt } from '../../../scripts/launch/build.mjs'
import { obtainChromium } from '../chromium.ts'
import type { Skipped } from '../servers/obtain.ts'

/** One build of the app for all browser tests of a run, and a browser to start. A run without such tests needs neither. */
export default async function setup(project: TestProject) {
  await ensureAppBuilt()
  const program = await obtainChromium()
  project.provide('chromium', typeof program === 'string' ? { program } : program)
}

declare module 'vitest' {
  export interface ProvidedContext {
    chromium: { program: string } | Skipped
  }
}
