/** Who asked for a wakeup, in words: ids are for programs. Pure. */
export function requesterText(requestedBy: string): string {
  const [kind, name = ''] = requestedBy.split(/:(.*)/s)
  if (kind === 'agent') return name
  if (kind === 'key' || kind === 'session') return 'a key that was removed'
  if (kind === 'run') return 'a run'
  return 'Baton'
}
