import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pages } from './docs/pages.ts'

/** Writes the generated pages. This file runs compiled, in dist/, so it searches for the repository root. */
function repository(folder = import.meta.dirname): string {
  return existsSync(join(folder, 'package.json')) ? folder : repository(dirname(folder))
}

for (const [path, text] of Object.entries(pages)) {
  const file = join(repository(), path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text())
  console.log(path)
}
