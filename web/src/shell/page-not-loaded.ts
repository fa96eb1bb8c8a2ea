/** The files of a page are asked for when it is first opened. Without a server they cannot come: the page says so, and the app stays. */

export class PageNotLoaded extends Error {
  override readonly name = 'PageNotLoaded'
}

/** Whether it answers at all, whatever it answers. */
const serverAnswers = (): Promise<boolean> =>
  fetch(location.pathname, { headers: { accept: 'text/html' }, cache: 'no-store' }).then(
    () => true,
    () => false,
  )

/**
 * The import of a page. When the server is there and the file is not, the server was updated, or a browser remembers that the file did
 * not come: the router loads the app again. Without a server that would leave an empty window.
 */
export const whileServed =
  <T>(load: () => Promise<T>) =>
  (): Promise<T> =>
    load().catch(async (cause: unknown) => {
      if (navigator.onLine && (await serverAnswers())) throw cause
      throw new PageNotLoaded('The files of this page could not be loaded.', { cause })
    })
