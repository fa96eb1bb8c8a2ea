import { open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { newSecret } from './kernel/store/new-key.ts'
import { createKey, findKey, listKeys } from './kinds/key/postgres.ts'
import { ensureFirstWorkspace, FIRST_WORKSPACE } from './kinds/workspace/postgres.ts'
import { StartRefused } from './pure/refusal.ts'
import type { PostgresStore } from './store/store.ts'

/**
 * At the first start: creates a workspace, and its owner key in the data folder, readable only by the user. A workspace that
 * already has keys gets no further one when another server starts on its database.
 */
export async function ensureOwnerKey(store: PostgresStore, dataFolder: string): Promise<void> {
  await ensureFirstWorkspace(store)
  if ((await listKeys(store.writers, FIRST_WORKSPACE)).length > 0) return
  const file = join(dataFolder, 'owner-key')
  // The file first: after a crash in between, the key in the file is not valid yet, and the next start registers it.
  const secret = (await readKey(file)) ?? (await writeKey(file, newSecret()))
  const owner = { name: 'owner', role: 'owner', instanceAdmin: true, secret } as const
  await createKey(store, FIRST_WORKSPACE, owner, { actor: 'system' })
}

/** The owner key, if the file in the data folder has one that is valid in this database. */
export async function ownerKeyOf(store: PostgresStore, dataFolder: string) {
  const secret = await readKey(join(dataFolder, 'owner-key'))
  return secret === null ? null : findKey(store.readers, secret)
}

async function readKey(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return /^baton_[A-Za-z0-9_-]{43}$/.test(text.trim()) ? text.trim() : null
}

async function writeKey(file: string, secret: string): Promise<string> {
  try {
    const draft = await open(`${file}.new`, 'w', 0o600)
    try {
      await draft.chmod(0o600)
      await draft.writeFile(`${secret}\n`)
      await draft.sync()
    } finally {
      await draft.close()
    }
    await rename(`${file}.new`, file)
    return secret
  } catch (error) {
    throw new StartRefused(
      `The owner key cannot be written to ${file} (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
}
