/** Compiles to dist/ unless that is already the present source. */
export function ensureBuilt(): Promise<void>
