/** A failure in words: what, why, and whether the same request may succeed later. */
export interface Explanation {
  title: string
  detail: string
  /** For those who report it. */
  code: string | null
  canRetry: boolean
}

/** What the client's Problem carries; any other error has a message only. */
interface ErrorFields {
  status?: number
  code?: string
  title?: string
  detail?: string
  message?: string
  name?: string
}

/** An id in a sentence says nothing to its reader: the address has it. */
const ID = / [0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

export function explain(error: unknown): Explanation {
  const { status, code, title, detail, message, name }: ErrorFields =
    typeof error === 'object' && error !== null ? error : { message: String(error) }
  if (name === 'NoAnswer')
    return {
      title: 'The server does not answer',
      detail: 'The connection was lost, or the server is restarting.',
      code: null,
      canRetry: true,
    }
  if (name === 'Offline')
    return { title: 'Nothing was sent', detail: message ?? '', code: null, canRetry: true }
  if (status === 404)
    return {
      title: 'Not in this workspace',
      detail: detail?.replaceAll(ID, ' with this id') ?? 'It does not exist here, or it was removed.',
      code: code ?? null,
      canRetry: false,
    }
  if (status !== undefined)
    return {
      title: title ?? 'The request was refused',
      detail: detail ?? '',
      code: code ?? null,
      canRetry: status === 429 || status >= 500,
    }
  return { title: 'This page failed', detail: message ?? String(error), code: null, canRetry: true }
}

/** The same of an act. Without an answer it is not known whether it was done, and it is never sent again automatically. */
export function explainAct(error: unknown): Explanation {
  const isUnanswered = (error as ErrorFields | null)?.name === 'NoAnswer'
  if (!isUnanswered) return explain(error)
  return {
    title: 'It is not known whether it was done',
    detail: 'No answer came. Look at it before you try again.',
    code: null,
    canRetry: true,
  }
}
