import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pages } from './docs/pages.ts'

/** Writes the pages that are made from the sources. This runs compiled, below dist/, so the repository is looked for. */
function repository(folder = import.meta.dirname): string {
  return existsSync(join(folder, 'package.json')) ? folder : repository(dirname(folder))
}

for (const [path, text] of Object.entries(pages)) {
  const file = join(repository(), path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text())
  console.log(path)
}
