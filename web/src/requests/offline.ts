/** Acts are never kept for later: an approval must be of the present state. */
class Offline extends Error {
  override readonly name = 'Offline'
}

/** Before anything is sent. Reads continue. */
export function refuseOffline(): void {
  if (!navigator.onLine)
    throw new Offline('You are disconnected, and this page may be out of date. Try again when it is live.')
}
