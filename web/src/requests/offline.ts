/** Acts are never kept for later: an approval must be of what is. */
class Offline extends Error {
  override readonly name = 'Offline'
}

/** Before anything is sent. Reading goes on. */
export function refuseOffline(): void {
  if (!navigator.onLine)
    throw new Offline('There is no connection, and what you see may be old. Try again when it is live.')
}
