import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import S3rver from '@20minutes/s3rver'
import type { S3Settings } from '../../src/logs/settings.ts'

/** The credentials of this server, the same for all tests. */
export const S3_CREDENTIALS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

// The client prints on stderr that it will not support this version of Node forever.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'

/** A server that speaks the S3 API, on this machine, with one empty bucket. */
export async function startS3(): Promise<{ settings: S3Settings; stop(): Promise<void>; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-s3-'))
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'run-logs' }],
  })
  const { port } = await server.run()
  return {
    folder,
    settings: {
      bucket: 'run-logs',
      prefix: 'baton/',
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      forcePathStyle: true,
    },
    async stop() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
