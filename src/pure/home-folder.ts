/** A folder in settings, as people write it in a shell: `~` and `~/shop` are in the home folder of Baton's user. */

export type Folder = { ok: true; path: string } | { ok: false; message: string }

/** `home`: of the user that Baton runs as; null if it has none. */
export function inHome(folder: string, home: string | null): Folder {
  if (!folder.startsWith('~')) return { ok: true, path: folder }
  const rest = folder.slice(1)
  // A shell would ask the system whose home `~anna` is, and a folder of that name is rare.
  if (rest !== '' && !rest.startsWith('/'))
    return {
      ok: false,
      message: `"${folder}" is not a folder: write ~/… for the home folder of Baton's user, or a whole path`,
    }
  if (home === null || !home.startsWith('/'))
    return { ok: false, message: 'the user Baton runs as has no home folder: write a whole path' }
  return { ok: true, path: `${home.replace(/\/+$/, '')}${rest.replace(/\/+$/, '')}` || '/' }
}
