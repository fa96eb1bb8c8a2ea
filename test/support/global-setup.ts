import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { ensureBuilt } from '../../scripts/launch/build.mjs'
import { startEmbeddedPostgres } from '../../src/embedded-postgres/start.ts'
import { makeTemplate } from './database.ts'
import { dataFolder } from './servers/data-folder.ts'
import { startMariadb } from './servers/mariadb.ts'
import type { Server, Skipped } from './servers/obtain.ts'
import { type Distribution, obtainDistribution } from './servers/postgres.ts'
import { startValkey } from './servers/valkey.ts'

type Started = PromiseSettledResult<Server | Skipped>[]

/** One real server of each kind for the whole run; each test file makes a database of its own in it. */
export default async function setup(project: TestProject) {
  // For tests that start Baton as a process of its own.
  await ensureBuilt()
  project.provide('distribution', await obtainDistribution())
  const started = await Promise.allSettled([startPostgres(), startValkey(), startMariadb()])
  const failure = failureIn(started)
  if (failure) {
    await stopAll(started).catch(() => undefined)
    throw failure
  }
  const [postgresUrl, valkeyUrl, mariadbUrl] = started.map(urlOf)
  project.provide('postgresUrl', postgresUrl!)
  project.provide('valkeyUrl', valkeyUrl ?? null)
  project.provide('mariadbUrl', mariadbUrl ?? null)
  const scratch = mkdtempSync(join(tmpdir(), 'baton-test-'))
  project.provide('scratch', scratch)
  return async () => {
    await stopAll(started)
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function startPostgres(): Promise<Server> {
  const folder = mkdtempSync(join(dataFolder(), 'baton-test-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const postgres = await startEmbeddedPostgres({
      folder: join(folder, 'postgres'),
      log: () => undefined,
      // Autovacuum would start a process every second or two for the many databases, and no test lasts long enough to need it.
      settings: { max_connections: '200', autovacuum_naptime: '10min' },
    })
    await makeTemplate(postgres.url)
    return { url: postgres.url, stop: () => postgres.stop().finally(remove) }
  } catch (error) {
    remove()
    throw error
  }
}

const urlOf = (one: Started[number]) =>
  one.status === 'fulfilled' && 'url' in one.value ? one.value.url : null

/** Each of them, even if another did not start or cannot be stopped. */
async function stopAll(started: Started): Promise<void> {
  const stops = started.map(async (one) => {
    if (one.status === 'fulfilled' && 'stop' in one.value) await one.value.stop()
  })
  const failure = failureIn(await Promise.allSettled(stops))
  if (failure) throw failure
}

function failureIn(results: PromiseSettledResult<unknown>[]): Error | undefined {
  const failures = results.flatMap((one) => (one.status === 'rejected' ? [one.reason as Error] : []))
  return failures.length > 1 ? new Error(failures.map(({ message }) => message).join('\n')) : failures[0]
}

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
    /** A folder that is removed when all tests are done. */
    scratch: string
    /** Null where there is none. */
    valkeyUrl: string | null
    mariadbUrl: string | null
    /** Programs from which tests start what they need. */
    distribution: Distribution
  }
}
