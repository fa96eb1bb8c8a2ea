/** Reads server-sent events from a body, as its bytes arrive. */

interface Message {
  event: string
  data: string
}

/** Comments are heartbeats: they count as bytes, and are no messages. */
export async function* messagesIn(
  read: () => Promise<{ value?: Uint8Array | undefined }>,
): AsyncGenerator<Message, void, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { value } = await read()
    if (!value) return
    // What is not ended by an empty line has not arrived in full.
    const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n')
    rest = blocks.pop()!
    for (const block of blocks) {
      const message = messageIn(block)
      if (message) yield message
    }
  }
}

function messageIn(block: string): Message | null {
  const fields = new Map(
    block.split('\n').map((line) => [line.split(':', 1)[0], line.replace(/^[^:]*: ?/, '')]),
  )
  const data = fields.get('data')
  return data === undefined ? null : { event: fields.get('event') ?? 'message', data }
}
