import { setTimeout as sleep } from 'node:timers/promises'
import { GuardedFolder, type Running } from './guarded-folder.ts'
import type { Server } from './obtain.ts'
import { portForServer } from './port.ts'

/** A server of our own, on loopback, with its data in a fresh folder. */
export interface PrivateServer extends Server {
  pid(): number
  folder: string
  /** Settles when it has ended. */
  kill9(): Promise<void>
  /** On the same port and data: after kill9() a recovery, otherwise a clean start. */
  restart(): Promise<void>
}

export interface Recipe {
  name: string
  program: string
  args(data: string, port: number): string[]
  /** The program that makes the data, and ends. */
  initialise?(data: string): { program: string; args: string[] }
  url(port: number): string
  /** The signal for a clean stop, if it is to be stopped so. */
  endsBy?: NodeJS.Signals
  /** Whether it serves, and is this very one, as another may have taken the port. Throws while nothing answers. */
  isUp(url: string, self: { pid: number; data: string }): Promise<boolean>
}

const READY_MS = 60_000
const ASK_AGAIN_MS = 20
const PORT_ATTEMPTS = 5

export async function startPrivateServer(recipe: Recipe): Promise<PrivateServer> {
  const folder = await GuardedFolder.make()
  try {
    await initialise(recipe, folder)
    let { running, port } = await serveOnFreePort(recipe, folder)
    const kill9 = async () => {
      running.kill9()
      await running.ended
    }
    return {
      url: recipe.url(port),
      folder: folder.path,
      pid: () => running.pid,
      kill9,
      async restart() {
        running.terminate(recipe.endsBy)
        await running.ended
        running = await serve(recipe, folder, port)
      },
      async stop() {
        // Its data is deleted with it: a clean stop is not needed, except for one that uses shared memory of the system.
        if (recipe.endsBy) {
          running.terminate(recipe.endsBy)
          await running.ended
        }
        await kill9()
        await folder.remove()
      },
    }
  } catch (error) {
    await folder.remove()
    throw error
  }
}

async function initialise(recipe: Recipe, folder: GuardedFolder): Promise<void> {
  if (!recipe.initialise) return
  const { program, args } = recipe.initialise(folder.data)
  const ending = await folder.run(program, args).ended
  if (ending !== 'exit code 0') throw new DidNotStart(recipe, `its data was not made: ${ending}`, folder)
}

async function serveOnFreePort(recipe: Recipe, folder: GuardedFolder) {
  for (let attempt = 1; ; attempt++) {
    const port = await portForServer()
    try {
      return { running: await serve(recipe, folder, port), port }
    } catch (error) {
      const { portWasTaken } = error as DidNotStart
      if (!portWasTaken || attempt === PORT_ATTEMPTS) throw error
    }
  }
}

/** Settles when the server answers; if it never does, none is left running. */
async function serve(recipe: Recipe, folder: GuardedFolder, port: number): Promise<Running> {
  const running = folder.run(recipe.program, recipe.args(folder.data, port))
  const self = { pid: running.pid, data: folder.data }
  let ending: string | undefined
  const ended = running.ended.then((how) => {
    ending = how
    return false
  })
  const giveUpAt = Date.now() + READY_MS
  const isUp = () => recipe.isUp(recipe.url(port), self).catch(() => false)
  while (!(await Promise.race([isUp(), ended]))) {
    if (ending) throw new DidNotStart(recipe, ending, folder)
    if (Date.now() > giveUpAt) {
      running.kill9()
      await ended
      throw new DidNotStart(recipe, `no answer within ${READY_MS / 1000} seconds`, folder)
    }
    await sleep(ASK_AGAIN_MS)
  }
  return running
}

class DidNotStart extends Error {
  override name = 'DidNotStart'
  readonly portWasTaken: boolean

  constructor({ name }: Recipe, why: string, folder: GuardedFolder) {
    const log = folder.endOfLog()
    super(`The private ${name} did not start (${why}). The end of its log:\n${log}`)
    this.portWasTaken = /address already in use/i.test(log)
  }
}
