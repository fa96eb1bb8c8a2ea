import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { inRoot } from './root.mjs'

const SETTLE_MS = 300
const INHERITED = { stdio: ['ignore', 'inherit', 'inherit'] }

/** The server on BATON_PORT, started again when its sources change, and Vite on the next port with the app's. */
export async function developWithReload() {
  const { createServer } = await import('vite')
  const vite = await createServer({ configFile: inRoot('web/vite.config.ts') })
  let server = (await isBuilt()) ? startServer() : null
  await vite.listen()
  vite.printUrls()

  const restart = afterQuiet(async () => {
    if (!(await isBuilt())) return
    await stop(server)
    server = startServer()
  })
  watch(inRoot('src'), { recursive: true }, restart)

  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, async () => {
      await Promise.all([vite.close(), stop(server)])
      process.exit(0)
    })
}

// A process of its own, because a failed build ends it: here the old server keeps running until the sources compile.
const isBuilt = async () => {
  const [code] = await once(
    spawn(process.execPath, [inRoot('scripts/build.mjs'), '--server'], INHERITED),
    'exit',
  )
  return code === 0
}

const startServer = () => spawn(process.execPath, [inRoot('dist/server/main.js')], INHERITED)

async function stop(server) {
  if (!server || server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGTERM')
  await ended
}

/** An editor saves several files at once: the last of them counts. */
function afterQuiet(run) {
  let timer
  let last = Promise.resolve()
  return () => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      last = last.then(run)
    }, SETTLE_MS)
  }
}
