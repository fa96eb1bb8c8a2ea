import { Readable } from 'node:stream'
import type { GetObjectCommandInput, S3ClientConfig } from '@aws-sdk/client-s3'
import type { Bucket } from './object-store.ts'
import type { S3Settings } from './settings.ts'

const PART_BYTES = 8 * 1024 * 1024
/** The client itself has no timeout for a server that does not answer. */
const CONNECT_MS = 5_000
const ANSWER_MS = 60_000

export interface S3Credentials {
  accessKeyId: string
  secretAccessKey: string
}

/** A bucket behind the S3 API. The client is large, so it is loaded only where a bucket is configured. */
export async function s3Bucket(settings: S3Settings, credentials?: S3Credentials): Promise<Bucket> {
  const s3 = await import('@aws-sdk/client-s3')
  const { Upload } = await import('@aws-sdk/lib-storage')
  const client = new s3.S3Client(clientConfig(settings, credentials))
  const at = (key: string) => ({ Bucket: settings.bucket, Key: settings.prefix + key })
  const get = async (input: GetObjectCommandInput) => {
    const answer = await unlessMissing(client.send(new s3.GetObjectCommand(input)))
    return answer && Buffer.from(await answer.Body!.transformToByteArray())
  }

  return {
    async put(key, pieces) {
      const body = Readable.from(pieces, { objectMode: false })
      const params = { ...at(key), Body: body }
      const upload = new Upload({
        client,
        params,
        partSize: PART_BYTES,
        queueSize: 1,
        leavePartsOnError: true,
      })
      try {
        await upload.done()
      } catch (error) {
        // Aborted here and not by the upload itself: if this fails too, the first error is the one to report.
        if (upload.uploadId)
          await client
            .send(new s3.AbortMultipartUploadCommand({ ...at(key), UploadId: upload.uploadId }))
            .catch(() => undefined)
        throw error
      } finally {
        // An unfinished stream would keep its files open.
        body.destroy()
      }
    },

    read: (key) => get(at(key)),
    readRange: (key, from, to) => get({ ...at(key), Range: `bytes=${from}-${to - 1}` }),

    async bytes(key) {
      const answer = await unlessMissing(client.send(new s3.HeadObjectCommand(at(key))))
      return answer && (answer.ContentLength ?? 0)
    },

    async delete(key) {
      await unlessMissing(client.send(new s3.DeleteObjectCommand(at(key))))
    },

    close: () => client.destroy(),
  }
}

function clientConfig(
  { endpoint, region, forcePathStyle }: S3Settings,
  credentials: S3Credentials | undefined,
): S3ClientConfig {
  return {
    forcePathStyle,
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: ANSWER_MS, throwOnRequestTimeout: true },
    ...(region === null ? {} : { region }),
    ...(credentials && { credentials }),
    // Not every S3-compatible server supports the checksums that Amazon uses by default now.
    ...(endpoint !== null && {
      endpoint,
      region: region ?? 'us-east-1',
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
  }
}

async function unlessMissing<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    const { name } = error as Error
    if (name === 'NoSuchKey' || name === 'NotFound') return null
    throw error
  }
}
