import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as yieldToEventLoop } from 'node:timers/promises'
import { passwordsOfAddress } from '../pure/secrets/parts.ts'
import { KnownSecrets } from '../pure/secrets/redaction.ts'
import type { Environment } from './environment.ts'

/** Compiles the secrets for redaction. Many long ones take a while, so this yields to the event loop in between. */
export async function prepareSecrets(secrets: readonly string[]): Promise<KnownSecrets> {
  const slices = KnownSecrets.preparing(secrets)
  for (;;) {
    const { done, value } = slices.next()
    if (done) return value
    await yieldToEventLoop()
  }
}

/** Secrets to redact in every run of this node: agents run as its user, and may find these in files. */
export async function secretsOfNode(
  dataFolder: string,
  databaseUrl: string,
  { PGPASSWORD }: Environment,
): Promise<string[]> {
  const ownerKey = await readFile(join(dataFolder, 'owner-key'), 'utf8').catch(() => '')
  return [ownerKey.trim(), ...passwordsOfAddress(databaseUrl), PGPASSWORD ?? ''].filter(Boolean)
}
