import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { KnownSecrets } from '../core/redaction.ts'
import { passwordsOfAddress } from '../core/secret-parts.ts'
import type { Environment } from './environment.ts'

/** Makes them ready to be looked for. Many long ones take a while, and whoever else waits for this process has its turn between. */
export async function prepareSecrets(secrets: readonly string[]): Promise<KnownSecrets> {
  const slices = KnownSecrets.preparing(secrets)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
    await nextTurn()
  }
}

/** What must not come out of any run of this node: agents run as its user, and may find these in files. */
export async function secretsOfNode(
  dataFolder: string,
  databaseUrl: string,
  { PGPASSWORD }: Environment,
): Promise<string[]> {
  const ownerKey = await readFile(join(dataFolder, 'owner-key'), 'utf8').catch(() => '')
  return [ownerKey.trim(), ...passwordsOfAddress(databaseUrl), PGPASSWORD ?? ''].filter(Boolean)
}
