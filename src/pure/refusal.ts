/** Why Baton will not start, in one sentence for the person who started it. The entry point prints it and exits 1. */
export class StartRefused extends Error {
  override name = 'StartRefused'
}
