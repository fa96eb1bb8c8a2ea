/** Compiles to dist/ unless that is already the present source, and returns whether it had to. */
export function ensureBuilt(project?: string): Promise<boolean>
