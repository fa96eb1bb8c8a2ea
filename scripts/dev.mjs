import { requireNode } from './launch/node-version.mjs'

requireNode()

async function develop() {
  const { ensureInstalled } = await import('./launch/install.mjs')
  await ensureInstalled()
  const { developWithReload } = await import('./launch/dev.mjs')
  await developWithReload()
}

develop()
