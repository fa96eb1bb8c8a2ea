export function ensureBuilt(project?: string): Promise<boolean>
export function ensureAppBuilt(): Promise<boolean>
