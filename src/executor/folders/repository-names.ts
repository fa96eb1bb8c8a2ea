import { hash } from 'node:crypto'
import { basename } from 'node:path'
import { folderOf } from './changes.ts'

/** Names for repositories that are shown to people who may not see paths: of their folders, made unique where two are equal. */
export function repositoryNames(repositories: readonly string[]): (repository: string) => string {
  const plain = (repository: string) => basename(folderOf(repository)) || 'repository'
  const counts = new Map<string, number>()
  for (const repository of repositories) {
    const name = plain(repository)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return (repository) => {
    const name = plain(repository)
    return counts.get(name) === 1 ? name : `${name}-${hash('sha256', repository, 'hex').slice(0, 6)}`
  }
}
