// Runs on any Node that knows ES modules, so that an old version is reported instead of failing on newer syntax.
import { readFileSync } from 'node:fs'

export function requireNode() {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const wanted = engines.node.replace('>=', '').split('.').map(Number)
  const present = process.versions.node.split('.').map(Number)
  const isEnough = present[0] > wanted[0] || (present[0] === wanted[0] && present[1] >= wanted[1])
  if (isEnough) return
  console.error(`Baton needs Node ${wanted.join('.')} or newer, but this is Node ${process.versions.node}.`)
  process.exit(1)
}
