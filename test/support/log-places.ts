import { RunLogRows } from '../../src/kinds/run/postgres/run-logs.ts'
import { USUAL_LIMITS } from '../../src/logs/limits.ts'
import { localFileStore } from '../../src/logs/local-file.ts'
import { objectStore } from '../../src/logs/object-store.ts'
import { postgresStore } from '../../src/logs/postgres.ts'
import type { RunLogStore } from '../../src/logs/protocol.ts'
import { type S3Credentials, s3Bucket } from '../../src/logs/s3-bucket.ts'
import type { S3Settings } from '../../src/logs/settings.ts'
import { PostgresStore } from '../../src/store/store.ts'

/** Where logs are, in a form that can be passed to another process. */
export type LogPlace =
  | { store: 'local_file'; folder: string; compress: boolean }
  | { store: 'object_store'; folder: string; compress: boolean; s3: S3Settings; credentials: S3Credentials }
  | { store: 'postgres'; url: string; compress?: boolean }

/** Large enough for the tests of large logs. */
const MAX_BYTES = 32 * 1024 * 1024

export async function openLogs(place: LogPlace): Promise<{ logs: RunLogStore; close(): Promise<void> }> {
  if (place.store === 'local_file')
    return {
      logs: localFileStore(place.folder, USUAL_LIMITS, place.compress),
      close: async () => undefined,
    }
  if (place.store === 'object_store') {
    const bucket = await s3Bucket(place.s3, place.credentials)
    const { folder: spoolFolder, compress } = place
    return { logs: objectStore({ bucket, spoolFolder, compress }), close: async () => bucket.close() }
  }
  const database = await PostgresStore.open(place.url)
  const logs = postgresStore(new RunLogRows(database), { mostBytes: MAX_BYTES })
  return { logs, close: () => database.close() }
}
