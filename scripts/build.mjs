import { requireNode } from './launch/node-version.mjs'

requireNode()

async function build() {
  const { ensureInstalled } = await import('./launch/install.mjs')
  const { ensureBuilt } = await import('./launch/build.mjs')
  await ensureInstalled()
  await ensureBuilt()
}

build()
