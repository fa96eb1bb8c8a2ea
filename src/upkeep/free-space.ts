import { statfs } from 'node:fs/promises'
import type { ServerKernel } from '../door/server-kernel.ts'
import { aboutNode, ofInstance, raiseOne, resolveOne } from '../kinds/alert/acts/raise.ts'

/** How often the disk is looked at. */
const EVERY_MS = 60_000
/** It is over with this much more than the least, so that it does not come and go. */
const MARGIN = 1.1
const MIB = 1024 * 1024

interface Options {
  kernel: ServerKernel
  /** The name of this node. */
  node: string
  folder: string
  /** Less than this is low; 0: nothing is. */
  leastBytes: number
  log: { error(about: object, message: string): void }
  /** How many bytes are free in a folder. */
  freeIn?: (folder: string) => Promise<number>
}

const freeOnDisk = async (folder: string) => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

/** Watches the disk of the data folder of this node. Only a change asks the database for anything. */
export class FreeSpace {
  readonly #options: Options
  /** Null: nobody was told yet, whatever an earlier process with this name said. */
  #isLow: boolean | null = null
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(options: Options) {
    this.#options = options
  }

  start(): this {
    this.#checking = this.check()
      .catch((err: unknown) =>
        this.#options.log.error({ err }, 'the free space of the disk could not be told'),
      )
      .finally(() => {
        if (this.#isStopped) return
        this.#timer = setTimeout(() => this.start(), EVERY_MS)
        this.#timer.unref()
      })
    return this
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#checking
  }

  async check(): Promise<void> {
    const { kernel, node, folder, leastBytes, log, freeIn = freeOnDisk } = this.#options
    const free = await freeIn(folder)
    const isLow = free < leastBytes * (this.#isLow ? MARGIN : 1)
    if (isLow === this.#isLow) return
    const detail = `${Math.floor(free / MIB)} MiB are free at ${folder}, less than ${Math.floor(leastBytes / MIB)}`
    if (isLow) {
      // First: with an embedded database, the full disk may refuse the alert.
      log.error({ folder, freeBytes: free }, 'the disk is nearly full')
      await raiseOne(ofInstance(kernel), aboutNode('disk_low', node, detail))
    } else await resolveOne(ofInstance(kernel), 'disk_low', node)
    this.#isLow = isLow
  }
}
