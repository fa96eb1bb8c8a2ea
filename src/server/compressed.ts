import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { setExactSeq } from './log-head.ts'

const compress = promisify(gzip)
const SMALLEST_BYTES = 10_000

/** Sends an answer that may be large: compressed, if the client takes it so. */
export async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: object,
): Promise<FastifyReply> {
  const text = JSON.stringify(answer)
  setExactSeq(reply, answer)
  reply.header('vary', 'accept-encoding').type('application/json; charset=utf-8')
  if (text.length < SMALLEST_BYTES || !takesGzip(request)) return reply.send(text)
  const packed = await compress(text, { level: constants.Z_BEST_SPEED })
  return reply.header('content-encoding', 'gzip').send(packed)
}

const takesGzip = ({ headers }: FastifyRequest) =>
  /(^|,)\s*(gzip|\*)\s*(;\s*q=(1|0?\.\d*[1-9]\d*)[0.]*)?\s*(,|$)/.test(
    String(headers['accept-encoding'] ?? ''),
  )
