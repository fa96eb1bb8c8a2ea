/** How requests fail, as far as the live layer distinguishes. The client's errors have a status where the server answered. */

const statusOf = (error: unknown) => {
  const { status } = (error ?? {}) as { status?: unknown }
  return typeof status === 'number' ? status : null
}

export const isSignedOut = (error: unknown) => statusOf(error) === 401
/** The server answered, and will answer the same again. */
export const isRefused = (error: unknown) => {
  const status = statusOf(error)
  return status !== null && status >= 400 && status < 500 && status !== 401 && status !== 429
}
