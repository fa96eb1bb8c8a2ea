import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartRefused } from '../pure/refusal.ts'
import { accountForPostgres } from './account.ts'
import { findBinaries } from './binaries.ts'
import { createCluster, passwordOf } from './cluster.ts'
import { makeClusterOwn, openDataFolder, refuseForeignCluster, whyNotUsable } from './data-folder.ts'
import { lockFolder } from './folder-lock.ts'
import { keepRunning } from './keep-running.ts'
import { launcher } from './launch.ts'
import { serverMark, stopOrphan } from './orphan.ts'
import { freePort, type NotReady, type Postmaster, startPostmaster } from './postmaster.ts'
import { settingArguments } from './settings.ts'

export interface EmbeddedPostgres {
  /** As superuser, to the database `baton`. Unchanged for the lifetime of this server. */
  url: string
  pid(): number
  stop(): Promise<void>
}

export interface EmbeddedPostgresOptions {
  folder: string
  log: (line: string) => void
  settings?: Record<string, string>
}

/** Leftover children of a killed server keep its memory for about two seconds; slow machines need more. */
const FILES_IN_USE_MS = 20_000
const PORT_ATTEMPTS = 5

/** Starts a Postgres server on the files in this folder, and creates them if they do not exist. */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const account = accountForPostgres()
  const binaries = await findBinaries(account)
  const folder = await openDataFolder(options.folder, account)
  const cluster = join(folder, 'cluster')
  const launch = launcher({ account, dataFolder: folder })
  await refuseForeignCluster(cluster, binaries.major, account)

  const lock = await lockFolder(folder).catch(refuseFor(folder))
  try {
    const tools = { folder, binaries, account, launch }
    if (!existsSync(cluster)) await createCluster(tools, cluster)
    await stopOrphan(cluster, options.log)
    await makeClusterOwn(cluster, account)
    const password = await passwordOf(tools, cluster)

    const mark = await serverMark(cluster)
    const startOn = (port: number): Postmaster => {
      const settings = settingArguments(options.settings ?? {}, port)
      return startPostmaster(launch, binaries.postgres, ['-D', cluster, '-c', mark, ...settings], options.log)
    }
    const { postmaster, port } = await firstReady(startOn, cluster, options.log)
    const running = keepRunning(postmaster, () => startOn(port), options.log)
    const stop = async () => {
      await running.stop()
      await lock.release()
    }
    let stopped: Promise<void> | undefined
    return {
      url: `postgres://postgres:${password}@127.0.0.1:${port}/baton`,
      pid: running.pid,
      stop() {
        stopped ??= stop()
        return stopped
      },
    }
  } catch (error) {
    await lock.release()
    return refuseFor(folder)(error)
  }
}

// A full disk, a quota or a squashed root fails wherever a file is written first.
function refuseFor(folder: string): (error: unknown) => never {
  return (error) => {
    const isOfFiles = (error as NodeJS.ErrnoException).syscall !== undefined
    throw isOfFiles ? new StartRefused(whyNotUsable(folder, error as Error)) : error
  }
}

async function firstReady(
  startOn: (port: number) => Postmaster,
  cluster: string,
  log: (line: string) => void,
): Promise<{ postmaster: Postmaster; port: number }> {
  const giveUpAt = Date.now() + FILES_IN_USE_MS
  for (let attempt = 1; ; attempt++) {
    const port = await freePort()
    const postmaster = startOn(port)
    try {
      await postmaster.ready
      return { postmaster, port }
    } catch (error) {
      const { obstacle, message } = error as NotReady
      const isPassing =
        (obstacle === 'port taken' && attempt < PORT_ATTEMPTS) ||
        (obstacle === 'files in use' && Date.now() < giveUpAt)
      if (!isPassing) throw new StartRefused(`The embedded Postgres on ${cluster} did not start: ${message}.`)
      if (obstacle === 'files in use') {
        await sleep(100)
        // A start that was killed in the same moment may have left a server after the check.
        await stopOrphan(cluster, log)
      }
    }
  }
}
