import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** A path in the repository, wherever the command was given. */
export function inRoot(...parts) {
  return join(root, ...parts)
}
